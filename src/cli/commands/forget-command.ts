import { existsSync } from "node:fs";
import { CopyRegister } from "../../histories/index.ts";
import type { ErasurePlan, FreedCounts } from "../../kernel/faces/log.ts";
import { type Kernel, parseEntryId } from "../../kernel/index.ts";
import { findMemoryOwner } from "../../model/session-key.ts";
import { defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { findSession } from "../find-session.ts";
import { openExistingStore } from "../open-store.ts";
import { getSessionScope, type SessionScope } from "../sessions/session-scope.ts";
import { getActor } from "../team/person-options.ts";
import { askYesNo } from "../terminal/ask-yes-no.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { printJson } from "../terminal/print-lines.ts";
import { printTo } from "../terminal/printer.ts";
import { UsageError } from "../usage-error.ts";

/** A memory, entry or session to forget. */
interface ForgetTarget {
  readonly name: string;
  readonly kind: "memory" | "entry" | "session";
  readonly forget: () => Promise<FreedCounts>;
  /** Lists the copies and summaries that would go with an entry. */
  readonly preview?: () => Promise<ErasurePlan>;
  /** The file in which its agent still has it. */
  readonly file?: string | undefined;
  /** Files with copies that longhaul wrote. */
  readonly copies?: readonly string[];
}

/** Removes a memory, an entry or a whole session, with everything derived from it. */
export const forgetCommand = defineCommand({
  name: "forget",
  summary: "delete a memory, an entry or a conversation, and everything derived from it",
  usage: [
    "forget <memory|entry|session>… [options]",
    "forget --path PATH",
    "forget --person NAME [--yes] [--certificate FILE]",
    "forget --verify FILE",
  ],
  about:
    'Name a memory by its id, as "longhaul memories" lists it; an entry as <session>#<number>; a session by its id. Summaries and extracts that repeat an entry are deleted with it, and so are its chunks in the index. Neither an import nor a reply brings the words of an entry back. Agents cannot save a forgotten memory again. There is no undo, so the command asks before it deletes entries and sessions. --person erases everything of a person of a shared gateway: conversations, memories, tasks, tokens and budgets; without --yes it shows the counts. Its certificate lists counts and digests of the erased content, and --verify compares it with the store.',
  options: {
    "dry-run": {
      type: "boolean",
      help: "list the copies and summaries that would go with the named entries; forget nothing",
    },
    yes: { type: "boolean", short: "y", help: "forget entries and sessions without asking" },
    path: {
      type: "string",
      value: "PATH",
      help: "remove a file or folder from the index; the files stay on disk",
    },
    person: { type: "string", value: "NAME", help: "erase a person with everything that belongs to them" },
    certificate: {
      type: "string",
      value: "FILE",
      help: "where to write the certificate of --person, as JSON and beside it as text",
    },
    verify: { type: "string", value: "FILE", help: "compare the certificate of an erasure with the store" },
  },
  maxOperands: Number.POSITIVE_INFINITY,
  examples: [
    "longhaul forget memory:default#3",
    "longhaul forget ticket-4711#12 --yes",
    "longhaul forget --path ~/old-project",
    "longhaul forget --person alice --yes",
    "longhaul forget --verify erasure-alice.json",
  ],
  async run(context, { operands, options }) {
    const { path, person, verify } = options;
    if (person !== undefined || verify !== undefined) {
      if (operands.length > 0 || path !== undefined || (person !== undefined && verify !== undefined))
        throw new UsageError("--person and --verify stand alone");
      const { forgetPerson, verifyForgotten } = await import("../team/forget-person.ts");
      if (verify !== undefined) return verifyForgotten(context, verify, options);
      return forgetPerson(context, person ?? "", options);
    }
    if (operands.length === 0 && path === undefined)
      throw new UsageError("name a memory, an entry, a session or a --path");
    await using kernel = await openExistingStore(context, options);
    const scope = getSessionScope(context, options);
    const targets: ForgetTarget[] = [];
    for (const name of operands) targets.push(await findTarget(kernel, name, scope));
    if (options["dry-run"]) {
      await printPlans(context, targets, options.json === true);
      return EXIT.fine;
    }
    if (!(await isConfirmed(context, options.yes === true, targets))) return EXIT.fine;
    const files = path === undefined ? undefined : await kernel.memory.forgetFiles([path]);
    const forgotten: (Omit<ForgetTarget, "forget" | "preview"> & { readonly freed: FreedCounts })[] = [];
    for (const { forget, preview: _, ...target } of targets)
      forgotten.push({ ...target, freed: await forget() });
    if (options.json) await printJson(context, { forgotten, files });
    else if (!options.quiet) {
      const lines = forgotten.map(({ name }) => `Forgot ${escapeLine(name)}.\n`);
      for (const { kind, file } of forgotten)
        if (file !== undefined) {
          const remedy =
            kind === "session" ? "; imports leave it out until its agent writes to it again" : "";
          lines.push(`Its agent still has it in ${escapeLine(file)}${remedy}.\n`);
        }
      for (const { copies } of forgotten)
        for (const path of copies ?? [])
          lines.push(
            `A copy of it is in ${escapeLine(path)}; imports take nothing from it that was copied.\n`,
          );
      if (files !== undefined) lines.push(`Removed ${formatQuantity(files, "file")} from the index.\n`);
      await printTo(context.stdout, lines.join(""));
    }
    return EXIT.fine;
  },
});

async function findTarget(kernel: Kernel, name: string, scope: SessionScope): Promise<ForgetTarget> {
  if (!/#\d+$/.test(name)) {
    const id = await findSession(kernel, name, scope);
    // The session stays, with the changes by which its values stay forgotten.
    const owner = findMemoryOwner(id);
    const forget =
      owner !== undefined
        ? () => kernel.memories(owner).forgetAll()
        : () => kernel.deleteSession(id, { by: getActor() });
    return {
      name: id,
      kind: "session",
      forget,
      file: await findAgentFile(kernel, id),
      copies: await findCopies(kernel, id),
    };
  }
  const place = parseEntryId(name);
  const owner = findMemoryOwner(place.session);
  if (owner !== undefined) {
    const memories = kernel.memories(owner);
    return { name, kind: "memory", forget: () => memories.forget(name) };
  }
  const id = await findSession(kernel, place.session, scope);
  const forget = async () => {
    await using session = await kernel.session(id);
    return await session.redact(place.seq, "forgotten");
  };
  const preview = async () => {
    await using session = await kernel.session(id);
    return await session.previewRedact(place.seq);
  };
  return {
    name: `${id}#${place.seq}`,
    kind: "entry",
    forget,
    preview,
    file: await findAgentFile(kernel, id),
    copies: await findCopies(kernel, id),
  };
}

/** Why an entry goes with another one, in words for people. */
const CAUSES: Readonly<Record<ErasurePlan["entries"][number]["cause"], string>> = {
  named: "named",
  copy: "the same words",
  quote: "quotes the words, and keeps the rest",
  derived: "made from the words",
  original: "the imported file",
};

/** Lists what each target would take with it. */
async function printPlans(
  context: CliContext,
  targets: readonly ForgetTarget[],
  isJson: boolean,
): Promise<void> {
  const plans: (Pick<ForgetTarget, "name" | "file" | "copies"> & { readonly plan?: ErasurePlan })[] = [];
  for (const { name, preview, file, copies } of targets)
    plans.push({ name, file, ...(copies && { copies }), ...(preview && { plan: await preview() }) });
  if (isJson) return printJson(context, { isDryRun: true, targets: plans });
  const lines = plans.flatMap(({ name, plan, file, copies = [] }) => [
    `${escapeLine(name)} would be forgotten.\n`,
    ...(plan?.entries ?? [])
      .filter(({ cause }) => cause !== "named")
      .map(({ session, seq, cause }) => `  ${escapeLine(`${session}#${seq}`)}: ${CAUSES[cause]}\n`),
    ...(plan?.titles ?? []).map((id) => `  the title of ${escapeLine(id)}\n`),
    ...(plan?.kept ?? []).map(
      (id) => `  ${escapeLine(id)} has the words and stays: it belongs to somebody else, or is a memory\n`,
    ),
    ...(file === undefined ? [] : [`  ${escapeLine(file)} stays: it belongs to its agent\n`]),
    ...copies.map((path) => `  ${escapeLine(path)} stays: longhaul wrote it as a copy\n`),
  ]);
  await printTo(context.stdout, lines.join(""));
}

/** The file that a session was imported from, if it still exists. */
async function findAgentFile(kernel: Kernel, id: string): Promise<string | undefined> {
  const { path } = ((await kernel.find(id))?.meta?.source ?? {}) as { readonly path?: unknown };
  return typeof path === "string" && existsSync(path) ? path : undefined;
}

/** The copies of a session that longhaul wrote, as far as they still exist. */
async function findCopies(kernel: Kernel, id: string): Promise<readonly string[]> {
  const copies = await new CopyRegister(kernel).of(id);
  return copies.map(({ path }) => path).filter((path) => existsSync(path));
}

async function isConfirmed(
  context: CliContext,
  isSure: boolean,
  targets: readonly ForgetTarget[],
): Promise<boolean> {
  const asked = targets.filter(({ kind }) => kind !== "memory");
  if (asked.length === 0 || isSure) return true;
  const names = asked.map(({ name }) => escapeLine(name)).join(", ");
  if (!context.isTerminal.stdin || !context.isTerminal.stdout)
    throw new UsageError(`forgetting ${names} needs --yes`);
  const words = `Forget ${formatQuantity(asked.length, "conversation or entry", "conversations or entries")} (${names}) permanently?`;
  return askYesNo(context, words);
}
