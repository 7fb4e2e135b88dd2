import { PassThrough } from "node:stream";
import type { CliContext } from "../../../src/cli/cli-context.ts";
import { runProgram } from "../../../src/cli/program.ts";
import { testFolder } from "../../support/folder.ts";
import type { Ended } from "./program.ts";

/** The terminal that a command sees. */
export interface Screen {
  readonly columns?: number;
  readonly isColored?: boolean;
  /** The working folder; a new one by default. */
  readonly cwd?: string;
  /** The home folder; a new one by default. */
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly platform?: NodeJS.Platform;
  /** The answer to a question; without one there is no terminal. */
  readonly answer?: string;
}

/** Runs a command line in this process, without the startup time of a new one. */
export async function runHere(args: readonly string[], screen: Screen = {}): Promise<Ended> {
  const { columns = Number.POSITIVE_INFINITY, isColored = false, answer } = screen;
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const texts = [textOf(stdout), textOf(stderr)] as const;
  const context: CliContext = {
    stdin,
    stdout,
    stderr,
    env: { ...(isColored && { FORCE_COLOR: "1" }), ...screen.env },
    cwd: screen.cwd ?? testFolder(),
    home: screen.home ?? testFolder(),
    platform: screen.platform ?? process.platform,
    isTerminal: { stdin: answer !== undefined, stdout: answer !== undefined, stderr: false },
    columns: { stdout: columns, stderr: columns },
    rows: Number.POSITIVE_INFINITY,
    signal: new AbortController().signal,
  };
  if (answer !== undefined) stdin.end(`${answer}\n`);
  const code = await runProgram(args, context);
  stdout.end();
  stderr.end();
  return { code, stdout: await texts[0], stderr: await texts[1] };
}

/** The same with `--json`; parses the output. */
export async function jsonHere(args: readonly string[], screen: Screen = {}) {
  const { code, stdout } = await runHere([...args, "--json"], screen);
  return { code, value: JSON.parse(stdout) as ReturnType<typeof JSON.parse> };
}

async function textOf(stream: PassThrough): Promise<string> {
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) text += chunk;
  return text;
}
