import { isLonghaulError, openKernel } from "../src/kernel/index.ts";
import { appendMarathon } from "./chapters/append.ts";
import { editThePast } from "./chapters/edit.ts";
import { lookUp } from "./chapters/look-up.ts";
import { pageThrough } from "./chapters/page.ts";
import { readImage } from "./chapters/read-image.ts";
import { reopenCold } from "./chapters/reopen.ts";
import { rewindAndUndo } from "./chapters/rewind.ts";
import type { Figures } from "./figures.ts";
import { TemporaryFolder } from "./folder.ts";
import { formatMs } from "./format.ts";
import { HELP, type Options, readOptions, UsageError } from "./options.ts";
import { Stop, Stopped } from "./stop.ts";
import { tableLines } from "./table.ts";
import { Terminal } from "./terminal.ts";
import { Tour } from "./tour.ts";

const SESSION = "marathon";

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = readOptions(args);
    if (!options.help) return await demonstrate(options);
    process.stdout.write(HELP);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\nRun it with --help to see the options.\n`);
    return 2;
  }
}

/** Runs the demo and prints the figures; returns the exit code. */
async function demonstrate(options: Options): Promise<number> {
  const folder = new TemporaryFolder(options.keep);
  const terminal = new Terminal(options.json ? process.stderr : process.stdout, process.env);
  const stop = new Stop(() => {
    terminal.line(`Left at once; this folder remains: ${folder.path}`);
    terminal.restore();
  });
  terminal.onGone(() => stop.ask("the end of the pipe", 141));
  try {
    const figures = await tellStory(folder, new Tour({ length: options, terminal, stop }));
    if (options.json) process.stdout.write(`${JSON.stringify(figures)}\n`);
    else {
      terminal.heading(
        "What it did, and what that took",
        "Heap at start and end is what a garbage collection leaves.",
      );
      for (const line of tableLines(figures)) terminal.line(line);
    }
    terminal.line(`\nDone in ${formatMs(figures.elapsedMs)}; ${folder.fate}.`);
    return 0;
  } catch (error) {
    if (error instanceof Stopped) {
      terminal.line(`Stopped by ${stop.why}: appends finished, kernel closed, ${folder.fate}.`);
      return stop.exitCode ?? 1;
    }
    terminal.line(`The demonstration failed; ${folder.fate}.`);
    process.stderr.write(`${isLonghaulError(error) ? `${error.code}: ${error.message}` : inFull(error)}\n`);
    return 1;
  } finally {
    terminal.restore();
    stop.release();
  }
}

/** Runs the chapters in order, in a folder that is removed afterwards. */
async function tellStory(folder: TemporaryFolder, tour: Tour): Promise<Figures> {
  const startedMs = performance.now();
  await using disk = folder;
  tour.terminal.line("longhaul: one conversation that goes on for days, in memory that does not grow.");
  tour.terminal.line(`The store is in ${disk.path}`);
  await using kernel = await openKernel({ path: disk.path });
  const session = await kernel.session(SESSION, { title: "A marathon" });

  const { lastImage, ...append } = await appendMarathon(kernel, session, tour);
  const page = await pageThrough(session, tour);
  const lookedUp = await lookUp(session, tour);
  const image = await readImage(kernel, session, lastImage, tour);
  tour.step();
  const rewind = await rewindAndUndo(session, tour);
  const edit = await editThePast(session, tour);
  tour.step();
  const { size, ...reopen } = await reopenCold(kernel, { path: disk.path, session: SESSION }, tour);
  return {
    elapsedMs: performance.now() - startedMs,
    append,
    page,
    lookUp: lookedUp,
    image,
    rewind,
    edit,
    reopen,
    disk: size,
    ...tour.memory.courses(),
  };
}

function inFull(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
