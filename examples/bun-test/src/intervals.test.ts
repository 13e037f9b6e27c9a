import { describe, expect, test } from "bun:test";

import { merge } from "./intervals";

describe("merge", () => {
  test("keeps intervals that lie apart", () => {
    expect(merge([{ start: 5, end: 6 }, { start: 1, end: 2 }])).toEqual([
      { start: 1, end: 2 },
      { start: 5, end: 6 },
    ]);
  });

  test("joins those that touch", () => {
    expect(merge([{ start: 1, end: 3 }, { start: 3, end: 4 }]).length).toBe(1);
  });

  test("keeps the end of one that holds another", () => {
    expect(merge([{ start: 1, end: 9 }, { start: 2, end: 3 }])).toEqual([{ start: 1, end: 9 }]);
  });
});
