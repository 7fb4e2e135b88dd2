import { basename } from "node:path";
import { dropUndefined } from "./base/drop-undefined.ts";
import type { Json } from "./json.ts";

/** The agent and the project that a conversation belongs to. */
export interface SessionOrigin {
  readonly agent?: string;
  /** Name of the working folder. */
  readonly project?: string;
}

/** Where an imported history lay: in its agent's folder, in a working tree, or elsewhere. */
export type HistoryPlace = "home" | "working-tree" | "elsewhere";

/** The facts of a session that tell its origin. */
interface SessionFacts {
  readonly id: string;
  readonly meta?: { readonly [key: string]: Json };
}

/** Reads the origin from the metadata that import and gateway store, and from the id. */
export function findOrigin({ id, meta = {} }: SessionFacts): SessionOrigin {
  const places = [meta, ...Object.values(meta)].map(toFields);
  const [source = {}, gateway = {}] = [toFields(meta.source), toFields(meta.gateway)];
  const agent = toName(source.format) ?? toName(gateway.client) ?? findAgentInId(id);
  const cwd = places.flatMap(({ cwd, project }) => toName(cwd) ?? toName(project) ?? [])[0];
  const project = cwd === undefined ? findProjectInPath(toName(source.path)) : getFolderName(cwd);
  return dropUndefined({ agent, project });
}

/** The folder that a conversation works in: as its client stated it, or as the import found it. */
export function findProjectFolder({ meta = {} }: Pick<SessionFacts, "meta">): string | undefined {
  const places = [meta, ...Object.values(meta)].map(toFields);
  const found = places.flatMap(({ cwd, directory }) => toName(cwd) ?? toName(directory) ?? []);
  return toName(toFields(meta.gateway).project) ?? found[0];
}

/** Where the history of a conversation lay; undefined for a conversation that longhaul recorded itself. */
export function findHistoryPlace({ meta = {} }: Pick<SessionFacts, "meta">): HistoryPlace | undefined {
  const { place } = toFields(meta.source);
  return place === "home" || place === "working-tree" || place === "elsewhere" ? place : undefined;
}

/** True if one path is the other, or a folder inside of it. */
export function isWithinProject(path: string, project: string): boolean {
  const [inner = "", outer = ""] = [path, project].map((one) =>
    one.replaceAll("\\", "/").replace(/\/+$/, ""),
  );
  return inner === outer || inner.startsWith(`${outer}/`);
}

function toFields(value: unknown): { readonly [field: string]: unknown } {
  return typeof value === "object" && value !== null ? (value as { readonly [field: string]: unknown }) : {};
}

function toName(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Ids of conversations name the client as a whole piece, or before the client's own id: `local/codex:01a1…`. */
function findAgentInId(id: string): string | undefined {
  const pieces = id.replace(/^(?:@[^/]*|local)\//, "").split("/");
  const named = pieces.slice(0, -1).find((piece) => /^[a-z][a-z-]{1,30}$/.test(piece));
  const [, before] = /^([a-z][a-z-]{1,30}):/.exec(pieces[0] ?? "") ?? [];
  return named ?? (isApi(before) ? undefined : before);
}

/** Clients without a name are named by their API in ids. */
function isApi(name: string | undefined): boolean {
  return name === "anthropic" || name === "openai-chat" || name === "openai-responses";
}

/** Claude Code names the folder of a project after its path. */
function findProjectInPath(path: string | undefined): string | undefined {
  return /[\\/]projects[\\/]-([^\\/]+)[\\/]/.exec(path ?? "")?.[1];
}

function getFolderName(path: string): string {
  return basename(path.replaceAll("\\", "/")) || path;
}
