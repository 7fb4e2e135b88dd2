import { parseArgs } from "node:util";
import { Bench } from "./bench.ts";
import { Progress } from "./progress.ts";
import type { Row } from "./result.ts";
import type { Suite } from "./suite.ts";
import { SUITES } from "./suites/index.ts";
import { tableHead, tableLine } from "./table.ts";

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

function usage(): string {
  const suites = Object.entries(SUITES).map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`);
  return `npm run bench -- <suite> [--only <names>] [--quick] [--json]

Suites:
${suites.join("\n")}

Options:
  --only     the names of some measurements of the suite, separated by commas; stderr shows the names while they run,
             and the beginning of a name up to a hyphen selects all that begin so
  --quick    smaller counts, under 45 seconds; goals that need the full size are not judged
  --json     one JSON object a line instead of a table
  --help     this text`;
}

/** The options and the chosen suite; undefined if they are wrong, which stderr then explains. */
async function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        only: { type: "string" },
        quick: { type: "boolean" },
        json: { type: "boolean" },
        help: { type: "boolean" },
      },
    });
    const [name, ...more] = positionals;
    if (more.length > 0) throw new Error(`One suite at a time: ${positionals.join(", ")}.`);
    if (name === undefined) return { ...values, suite: undefined };
    if (!Object.hasOwn(SUITES, name)) throw new Error(`There is no suite "${name}".`);
    const suite = await SUITES[name]?.load();
    return { ...values, suite: suite && selectMeasurements(suite, values.only) };
  } catch (error) {
    // Node appends advice about positional arguments to its messages; only the first sentence states the problem.
    const problem = String(error instanceof Error ? error.message : error).replace(/\. To specify.*/s, ".");
    process.stderr.write(`${problem}\n\n${usage()}\n`);
    return undefined;
  }
}

/** The suite with only some of its measurements; throws if it lacks one of them. */
function selectMeasurements(suite: Suite, only: string | undefined): Suite {
  if (only === undefined) return suite;
  const names = only.split(",").map((name) => name.trim());
  const known = suite.measurements.map(({ name }) => name);
  const isNamed = (measurement: string, name: string) =>
    measurement === name || measurement.startsWith(`${name}-`);
  const missing = names.find((name) => !known.some((one) => isNamed(one, name)));
  if (missing !== undefined)
    throw new Error(`There is no measurement "${missing}" in this suite, which has ${known.join(", ")}.`);
  return {
    measurements: suite.measurements.filter(({ name }) => names.some((one) => isNamed(name, one))),
  };
}

async function runSuite(suite: Suite, bench: Bench, progress: Progress, print: (row: Row) => void) {
  const rows: Row[] = [];
  const total = suite.measurements.length;
  for (const [index, { name, run }] of suite.measurements.entries()) {
    progress.begin(`[${index + 1}/${total}] ${name}`);
    try {
      for await (const row of run(bench)) {
        progress.clear();
        print(row);
        rows.push(row);
      }
    } catch (error) {
      bench.fail(name, error);
    }
  }
  progress.end();
  const judged = rows.filter(({ met }) => met !== null);
  const met = judged.filter((row) => row.met);
  process.stderr.write(
    `${rows.length} rows, ${met.length} of ${judged.length} goals met, ${bench.failures} failed, ` +
      `${progress.elapsedSeconds.toFixed(0)} s\n`,
  );
}

const options = await readArguments();
if (!options) {
  process.exitCode = 2;
} else if (options.help || options.suite === undefined) {
  process.stdout.write(`${usage()}\n`);
} else {
  const progress = new Progress();
  const bench = new Bench(options.quick === true, progress);
  // The exit handler removes the folder and kills the child, whatever the reason for exiting.
  process.once("exit", () => bench.close());
  for (const [signal, number] of Object.entries(SIGNALS)) {
    process.once(signal, () => process.exit(128 + number));
  }
  bench.prepare();
  if (!options.json) process.stdout.write(`${tableHead()}\n`);
  const print = (row: Row) =>
    void process.stdout.write(`${options.json ? JSON.stringify(row) : tableLine(row)}\n`);
  await runSuite(options.suite, bench, progress, print);
  process.exitCode = bench.failures > 0 ? 1 : 0;
}
