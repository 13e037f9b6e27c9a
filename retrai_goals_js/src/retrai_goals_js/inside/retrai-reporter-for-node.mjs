// Writes what node's test runner reports in the form of jest's `--json`.
// It uses nothing but the events, and changes no outcome.
import { readFileSync } from "node:fs";
import { basename } from "node:path";

const textOf = (error) => {
  const cause = error?.cause ?? error;
  return cause === undefined ? "" : String(cause?.stack ?? cause?.message ?? cause);
};

// The runner reports each file as a test around those in it.
const isFile = ({ file, name, nesting, details }) =>
  Boolean(file) && !nesting && details?.type !== "suite" && basename(name) === basename(file);

const statusOf = (event) => {
  const isLeftOut = [event.skip, event.todo].some((each) => each !== undefined && each !== false);
  if (isLeftOut) return "pending";
  return event.isPassed ? "passed" : "failed";
};

export default async function* retraiReporter(source) {
  const ended = [];
  const printed = new Map();
  let problem = "node's test runner left no whole report";
  for await (const { type, data } of source) {
    if (type === "test:pass" || type === "test:fail") ended.push({ ...data, isPassed: type === "test:pass" });
    else if (type === "test:stderr") printed.set(data.file, (printed.get(data.file) ?? "") + data.message);
    else if (type === "test:plan" && !data.nesting) problem = "";
  }
  const files = new Map();
  const add = (event, ancestorTitles, title, status, message) => {
    const name = event.file ?? event.name;
    if (!files.has(name)) files.set(name, { name, assertionResults: [] });
    files.get(name).assertionResults.unshift({ ancestorTitles, title, status, failureMessages: [message] });
  };
  const above = [];
  const filesWithTests = new Set(ended.filter((event) => !isFile(event)).map((event) => event.file));
  // The event of a test comes before that of the test or suite around it.
  for (const event of ended.reverse()) {
    above.splice(event.nesting ?? 0, Infinity, event.name);
    const error = event.details?.error;
    const isOfInner = error?.failureType === "subtestsFailed";
    const hasTests = filesWithTests.has(event.file);
    if (!isFile(event)) {
      const isSuite = event.details?.type === "suite";
      if (!isSuite || (!event.isPassed && !isOfInner)) add(event, above.slice(0, -1), event.name, statusOf(event), textOf(error));
    } else if (!event.isPassed) {
      const message = `${textOf(error)}\n${(printed.get(event.file) ?? "").slice(0, 3000)}`;
      if (!hasTests || !isOfInner) add(event, [], "", "error", message);
    } else if (!hasTests) {
      // It could not be loaded, or is a plain script.
      const declares = readFileSync(event.file, "utf8").includes("node:test");
      if (declares) problem ||= `${basename(event.file)} ended without running a test (look for process.exit)`;
      else add(event, [], "", "passed", "");
    }
  }
  yield JSON.stringify({ success: true, problem, testResults: [...files.values()] });
}
