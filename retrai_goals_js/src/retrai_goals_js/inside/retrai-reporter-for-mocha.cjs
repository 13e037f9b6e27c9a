// Writes what mocha reports in the form of jest's `--json`, beside this file.
const { writeFileSync } = require("node:fs");
const { join } = require("node:path");

const textOf = ({ message = "", stack = "" }) => (stack.includes(message) ? stack : `${message}\n${stack}`);

// mocha has `titlePath` from version 4 on.
const suitesOf = ({ parent }) => (parent ? [...suitesOf(parent), ...(parent.root ? [] : [parent.title])] : []);

module.exports = class RetraiReporter {
  constructor(runner) {
    const files = new Map();
    const add = (test, title, status, message) => {
      const name = test.file ?? "";
      if (!files.has(name)) files.set(name, { name, assertionResults: [] });
      files.get(name).assertionResults.push({ ancestorTitles: suitesOf(test), title, status, failureMessages: [message] });
    };
    runner.on("pass", (test) => add(test, test.title, "passed", ""));
    runner.on("pending", (test) => add(test, test.title, "pending", ""));
    runner.on("fail", (test, error) => {
      // A hook that failed stands for the tests of its suite.
      if (test.type === "hook") add(test, "", "error", `${test.title}\n${textOf(error)}`);
      else add(test, test.title, "failed", textOf(error));
    });
    runner.once("end", () => {
      const report = { success: true, testResults: [...files.values()] };
      writeFileSync(join(__dirname, "report"), JSON.stringify(report));
    });
  }
};
