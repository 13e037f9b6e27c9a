// Writes down what node's test runner reports, one JSON object a line.
// It uses nothing but the events, and changes no outcome.
export default async function* retraiReporter(source) {
  for await (const event of source) {
    const data = event.data ?? {};
    if (event.type === "test:pass" || event.type === "test:fail") {
      const error = data.details?.error;
      const cause = error?.cause ?? error;
      yield `${JSON.stringify({
        kind: event.type === "test:pass" ? "pass" : "fail",
        name: String(data.name ?? ""),
        nesting: Number(data.nesting ?? 0),
        file: String(data.file ?? ""),
        suite: data.details?.type === "suite",
        skip: data.skip !== undefined && data.skip !== false,
        todo: data.todo !== undefined && data.todo !== false,
        failure: String(error?.failureType ?? ""),
        message: cause === undefined ? "" : String(cause?.stack ?? cause?.message ?? cause),
      })}\n`;
    } else if (event.type === "test:stderr") {
      const { file, message } = data;
      yield `${JSON.stringify({ kind: "stderr", file: String(file ?? ""), message })}\n`;
    } else if (event.type === "test:plan" && (data.nesting ?? 0) === 0) {
      yield `${JSON.stringify({ kind: "plan" })}\n`;
    }
  }
}
