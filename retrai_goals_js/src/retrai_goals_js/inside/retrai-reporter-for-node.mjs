// Writes down what node's test runner reports, one JSON object a line, as soon as it is known: of a
// suite that hangs, the failures before are left. It uses nothing but the events, and changes no
// outcome.
import { readFileSync } from "node:fs";
import { basename } from "node:path";

const MAX_PRINTED = 3000;

const textOf = (error) => {
  const cause = error?.cause ?? error;
  return cause === undefined ? "" : String(cause?.stack ?? cause?.message ?? cause);
};

// The runner reports each file as a test around those in it, which begins where the file does.
const isFile = ({ file, name, nesting, details, line = 1, column = 1 }) =>
  Boolean(file) && !nesting && details?.type !== "suite" && basename(name) === basename(file) &&
  line === 1 && column === 1;

const declaresTests = (file) => {
  try {
    return readFileSync(file, "utf8").includes("node:test");
  } catch {
    return true;
  }
};

const statusOf = (type, data) => {
  const isLeftOut = [data.skip, data.todo].some((each) => each !== undefined && each !== false);
  if (isLeftOut) return "pending";
  return type === "test:pass" ? "passed" : "failed";
};

const ended = (type, data) => ({
  kind: "ended",
  isPassed: type === "test:pass",
  status: statusOf(type, data),
  name: String(data.name ?? ""),
  nesting: data.nesting ?? 0,
  file: String(data.file ?? data.name ?? ""),
  isFile: isFile(data),
  isSuite: data.details?.type === "suite",
  declaresTests: isFile(data) && declaresTests(data.file),
  isOfInner: data.details?.error?.failureType === "subtestsFailed",
  text: textOf(data.details?.error),
});

export default async function* retraiReporter(source) {
  const printed = new Map();
  for await (const { type, data } of source) {
    if (type === "test:start")
      yield `${JSON.stringify({ kind: "begun", name: String(data.name ?? ""), nesting: data.nesting })}\n`;
    else if (type === "test:pass" || type === "test:fail") yield `${JSON.stringify(ended(type, data))}\n`;
    else if (type === "test:plan" && !data.nesting) yield `${JSON.stringify({ kind: "plan" })}\n`;
    else if (type === "test:stderr") {
      const before = printed.get(data.file) ?? 0;
      const text = String(data.message).slice(0, MAX_PRINTED - before);
      printed.set(data.file, before + text.length);
      if (text) yield `${JSON.stringify({ kind: "printed", file: String(data.file ?? ""), text })}\n`;
    }
  }
}
