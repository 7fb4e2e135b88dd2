/** A file of the project in the sample: its name, the thing it is about, and the functions in it. */
interface SampleFile {
  readonly path: string;
  readonly noun: string;
  readonly verbs: readonly string[];
}

const FILES: readonly SampleFile[] = [
  {
    path: "src/scans/intake.ts",
    noun: "Scan",
    verbs: [
      "receive",
      "check",
      "queue",
      "acknowledge",
      "retry",
      "discard",
      "describe",
      "batch",
      "count",
      "flush",
    ],
  },
  {
    path: "src/scans/dedupe.ts",
    noun: "ScanKey",
    verbs: ["build", "compare", "remember", "expire", "forget", "collide", "measure", "format", "prune"],
  },
  {
    path: "src/parcels/ledger.ts",
    noun: "Movement",
    verbs: [
      "append",
      "read",
      "order",
      "merge",
      "reverse",
      "audit",
      "sum",
      "close",
      "reopen",
      "export",
      "lock",
    ],
  },
  {
    path: "src/parcels/status.ts",
    noun: "Status",
    verbs: ["derive", "announce", "translate", "hold", "release", "escalate", "archive", "explain"],
  },
  {
    path: "src/http/routes.ts",
    noun: "Route",
    verbs: ["match", "guard", "answer", "refuse", "trace", "limit", "list", "document", "health"],
  },
];

/** Renders a file of the sample; the same name always has the same content, except for a change that was made. */
export function renderSampleFile(path: string, change = ""): string {
  const file = FILES.find((one) => one.path === path);
  if (!file) return `No such file: ${path}`;
  const { noun, verbs } = file;
  const head = [
    `import { createHash } from "node:crypto";`,
    `import type { Clock, Database } from "../ports.ts";`,
    ``,
    `/** ${noun}s of the parcel service. One row for each event that a scanner sent. */`,
    `export interface ${noun} {`,
    `  readonly id: string;`,
    `  readonly parcel: string;`,
    `  readonly depot: string;`,
    `  readonly scannedAt: number;`,
    `  readonly attempt: number;`,
    `}`,
    ``,
  ];
  const body = verbs.flatMap((verb, index) => renderFunction(verb, noun, index));
  return [...head, ...(change ? [change, ""] : []), ...body].join("\n");
}

function renderFunction(verb: string, noun: string, index: number): readonly string[] {
  const name = `${verb}${noun}`;
  const limit = 40 * (index + 2);
  return [
    `const MAX_${verb.toUpperCase()} = ${limit};`,
    ``,
    `/** Steps of ${verb}: read the row, decide, write once. Depots may be ${index + 3} minutes late. */`,
    `export async function ${name}(database: Database, clock: Clock, one: ${noun}): Promise<${noun} | undefined> {`,
    `  const key = createHash("sha256").update(\`\${one.parcel}:\${one.depot}:\${one.attempt}\`).digest("hex");`,
    `  const known = await database.find("${noun.toLowerCase()}", key.slice(0, ${16 + index}));`,
    `  if (known && clock.now() - known.scannedAt < ${limit} * 1_000) return undefined;`,
    `  const rows = await database.list("${noun.toLowerCase()}", { parcel: one.parcel, limit: MAX_${verb.toUpperCase()} });`,
    `  const newest = rows.toSorted((a, b) => b.scannedAt - a.scannedAt).at(0);`,
    `  if (newest && newest.attempt > one.attempt) return newest;`,
    `  return database.insert("${noun.toLowerCase()}", { ...one, attempt: one.attempt + ${index % 3} });`,
    `}`,
    ``,
  ];
}

const CASES = ["accepts", "refuses", "keeps", "orders", "repeats", "reports", "expires", "survives"];
const THINGS = [
  "a late scan",
  "two scanners at one depot",
  "a scan of yesterday",
  "an empty batch",
  "a closed parcel",
];

/** Renders the output of a run of the tests; `failing` names the tests that fail. */
export function renderTestRun(run: number, failing: readonly string[]): string {
  const lines = CASES.flatMap((verb, row) =>
    THINGS.map((thing, column) => {
      const ms = 3 + ((run * 7 + row * 11 + column * 5) % 38);
      return `ok ${row * THINGS.length + column + 1} - ${verb} ${thing} (${ms} ms)`;
    }),
  );
  const failures = failing.flatMap((title, index) => [
    `not ok ${lines.length + index + 1} - ${title}`,
    `  AssertionError: expected 1 movement, received 2`,
    `      at Object.<anonymous> (test/scans/intake.test.ts:${88 + 9 * index}:24)`,
    `      at process.processTicksAndRejections (node:internal/process/task_queues:105:5)`,
    `  parcel: PX-4471-0${index}  depot: HAM-2  attempt: 1  scannedAt: 17:0${index}:59.998`,
  ]);
  const total = lines.length + failing.length;
  return [
    `TAP version 14`,
    `1..${total}`,
    ...lines,
    ...failures,
    `# pass ${lines.length}`,
    `# fail ${failing.length}`,
  ].join("\n");
}

/** Renders lines of a log of the service. */
export function renderServiceLog(hour: number, count: number): string {
  const levels = ["info", "info", "info", "warn"];
  return Array.from({ length: count }, (_, index) => {
    const at = `2026-03-02T${String(hour).padStart(2, "0")}:${String(index % 60).padStart(2, "0")}:${String((index * 7) % 60).padStart(2, "0")}Z`;
    const parcel = `PX-${4_400 + ((index * 13) % 90)}-0${index % 4}`;
    return `${at} ${levels[index % levels.length]} intake depot=HAM-${1 + (index % 3)} parcel=${parcel} attempt=${1 + (index % 2)} took=${4 + ((index * 3) % 40)}ms`;
  }).join("\n");
}
