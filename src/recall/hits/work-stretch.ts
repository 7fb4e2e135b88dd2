import { type Message, textOfMessage } from "../../model/message.ts";
import type { Part, ToolResultPart } from "../../model/part.ts";
import { type Commit, findCommitCommand, parseCommit } from "../../window/effects/commit.ts";
import { findTouches } from "../../window/effects/find-touches.ts";
import type { Touch } from "../../window/effects/touch.ts";
import type { WorkStretch } from "../hit-details.ts";
import { RECALLED_META } from "../retrieval/context-block.ts";

/** A message at its place in a session. */
export interface WorkMessage {
  readonly seq: number;
  readonly at: number;
  readonly message: Message;
}

/** Matches text that tools write in the name of a person. */
const NO_REQUEST = /^\s*(?:[<[{]|$)/;

/** True for a message in which a person asks for something. */
export function isRequest({ role, meta, ...message }: Message): boolean {
  if (role !== "user" || meta?.longhaul === RECALLED_META.longhaul) return false;
  return !NO_REQUEST.test(textOfMessage({ role, ...message }));
}

/** Finds the commits that were made in messages, by the seq of their calls, in order. */
export function findCommits(messages: readonly WorkMessage[]): ReadonlyMap<number, Commit> {
  const results = new Map(listParts(messages, "tool-result").map(({ part }) => [part.callId, part]));
  const commits = new Map<number, Commit>();
  for (const { seq, part } of listParts(messages, "tool-call")) {
    const command = findCommitCommand(part);
    const result = results.get(part.callId);
    if (command === undefined || result?.isError) continue;
    const commit = parseCommit(command, textOfResult(result));
    if (commit) commits.set(seq, commit);
  }
  return commits;
}

/** Finds the stretch around a seq in messages, which are in order and begin at or before it. */
export function findWorkStretch(messages: readonly WorkMessage[], seq: number): WorkStretch {
  const commits = findCommits(messages);
  const starts = listStarts(messages, commits);
  const first = starts.findLast((start) => (messages[start]?.seq ?? 0) <= seq) ?? 0;
  const own = messages.slice(
    first,
    starts.find((start) => start > first),
  );
  const [from, to] = [own[0]?.seq ?? seq, own.at(-1)?.seq ?? seq];
  const touches = listParts(own, "tool-call").flatMap(({ part }) => findTouches(part));
  const listPaths = (...kinds: readonly Touch["kind"][]) => [
    ...new Set(
      touches.flatMap(({ kind, path }) => (path !== undefined && kinds.includes(kind) ? [path] : [])),
    ),
  ];
  const changedFiles = listPaths("write", "edit");
  const readFiles = listPaths("read").filter((path) => !changedFiles.includes(path));
  const [ending] = [...commits].filter(([at]) => at >= from);
  // A later commit contains the changes of all requests before it.
  const isEnd = ending !== undefined && (ending[0] <= to || changedFiles.length > 0);
  return {
    from,
    to,
    changedFiles,
    readFiles,
    ...(isEnd && { commit: { seq: ending[0], ...ending[1] } }),
  };
}

/** Indexes of messages with which a stretch begins: requests, and the next step after the output of a commit. */
function listStarts(
  messages: readonly WorkMessage[],
  commits: ReadonlyMap<number, Commit>,
): readonly number[] {
  const starts: number[] = [0];
  let isCommitted = false;
  for (const [index, { seq, message }] of messages.entries()) {
    if (index > 0 && (isRequest(message) || (isCommitted && message.role !== "tool"))) starts.push(index);
    isCommitted = commits.has(seq) || (isCommitted && message.role === "tool");
  }
  return starts;
}

/** The parts of a type, each with its place. */
function listParts<Type extends Part["type"]>(
  messages: readonly WorkMessage[],
  type: Type,
): readonly { readonly seq: number; readonly part: Extract<Part, { readonly type: Type }> }[] {
  const isOfType = (part: Part): part is Extract<Part, { readonly type: Type }> => part.type === type;
  return messages.flatMap(({ seq, message }) =>
    message.parts.filter(isOfType).map((part) => ({ seq, part })),
  );
}

function textOfResult(result: ToolResultPart | undefined): string {
  const texts = (result?.output ?? []).map((part) =>
    part.type === "text" ? part.text : part.type === "blob" ? (part.preview ?? "") : "",
  );
  return texts.join("\n");
}
