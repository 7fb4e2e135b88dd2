// Repeats the tests while other programs keep the processor busy, and lists each test that failed in any run:
//   npm run test:flaky                            the everyday suite, 30 times at a load of 16
//   npm run test:flaky -- --times 3 --proof       the proofs
//   npm run test:flaky -- --cores 1 --load 0 --times 1     one run on one core (Linux)
//   npm run test:flaky -- test/tasks test/log     some folders
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: "string", default: "30" },
    load: { type: "string", default: "16" },
    cores: { type: "string" },
    proof: { type: "boolean", default: false },
  },
});

/** A number of an option, at least `least`. */
function readCount(name, least) {
  const count = Number(values[name]);
  if (Number.isInteger(count) && count >= least) return count;
  console.error(`--${name} must be a whole number from ${least} on, but it is ${values[name]}.`);
  process.exit(2);
}

const [times, load] = [readCount("times", 1), readCount("load", 0)];
if (values.cores !== undefined) readCount("cores", 1);
const folder = mkdtempSync(join(tmpdir(), "longhaul-flaky-"));
const busy = Array.from({ length: load }, () => spawn(process.execPath, ["-e", "for (;;);"]));
const end = () => {
  for (const child of busy) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
};
process.on("exit", end);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

/** The tests that failed in a run, with the first line of each failure; a run without a report is one itself. */
async function runOnce(report) {
  const command = [
    ...["node_modules/vitest/vitest.mjs", "run", "--reporter=json", `--outputFile=${report}`],
    ...(values.proof ? ["--config", "vitest.proof.config.ts"] : []),
    ...positionals,
  ];
  const limited = values.cores === undefined ? [] : ["taskset", "-c", `0-${Number(values.cores) - 1}`];
  const [program, ...args] = [...limited, process.execPath, ...command];
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  const code = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  try {
    const { testResults } = JSON.parse(readFileSync(report, "utf8"));
    const failed = testResults.flatMap(({ name, status, message, assertionResults }) => {
      const tests = assertionResults.filter((one) => one.status === "failed");
      const words = tests.map((one) => [`${name}: ${one.fullName}`, one.failureMessages[0] ?? ""]);
      return status === "failed" && words.length === 0 ? [[name, message]] : words;
    });
    return failed.length === 0 && code !== 0 ? [["the run", `ended with ${code}`]] : failed;
  } catch (error) {
    return [["the run", `ended with ${code} and left no report: ${error}`]];
  }
}

const failures = new Map();
for (let run = 1; run <= times; run++) {
  const startedAt = Date.now();
  const failed = await runOnce(join(folder, `${run}.json`));
  for (const [test, message] of failed) {
    const runs = failures.get(test) ?? [];
    failures.set(test, [...runs, `run ${run}: ${String(message).split("\n", 1)[0]}`]);
  }
  const seconds = Math.round((Date.now() - startedAt) / 1_000);
  console.log(
    `run ${run} of ${times}: ${failed.length === 0 ? "green" : `${failed.length} failed`}, ${seconds} s`,
  );
}
for (const [test, runs] of failures)
  console.log(`\n${test}\n  failed ${runs.length} of ${times}\n  ${runs.join("\n  ")}`);
process.exit(failures.size === 0 ? 0 : 1);
