import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { freeSlug, slug } from "../src/slug.js";

describe("slug", () => {
  it("joins words by hyphens", () => {
    assert.equal(slug("Hello World"), "hello-world");
  });

  it("makes one hyphen of many other characters", () => {
    assert.equal(slug("What? -- No!"), "what-no");
  });
});

describe("freeSlug", () => {
  it("keeps a slug that is free", () => {
    assert.equal(freeSlug("News", ["olds"]), "news");
  });

  it("counts from two", () => {
    assert.equal(freeSlug("News", ["news", "news-2"]), "news-3");
    assert.equal(freeSlug("News", ["news"]), "news-2");
  });
});
