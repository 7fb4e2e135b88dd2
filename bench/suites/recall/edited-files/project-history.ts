import type { ToolCallPart } from "../../../../src/model/part.ts";
import { findTouches } from "../../../../src/window/effects/find-touches.ts";
import type { Touch } from "../../../../src/window/effects/touch.ts";
import { QuestionBuilder } from "../history/build-questions.ts";
import type { HistoryEntry } from "../history/history-entries.ts";
import { type HistoryQuestion, rootOf } from "../history/history-question.ts";
import { FileVersions } from "./file-versions.ts";
import { findProjectPath } from "./project-path.ts";
import { RequestBuilder } from "./request-builder.ts";

/** A file of the project that a call read, wrote or edited. */
export interface FileTouch {
  readonly session: string;
  readonly atMs: number;
  /** Within the project. */
  readonly path: string;
  /** As the call named it. */
  readonly named: string;
  readonly isChange: boolean;
}

/** A task in words, and the files that the agent changed for it. */
export interface EditQuestion {
  readonly kind: "requests" | "commits" | "plans";
  readonly format: string;
  readonly project: string;
  readonly session: string;
  readonly text: string;
  readonly askedAtMs: number;
  /** Paths, all of which existed when the task was given. */
  readonly gold: readonly string[];
}

interface OpenCall {
  readonly session: string;
  readonly atMs: number;
  readonly part: ToolCallPart;
  output: string;
  isError: boolean;
}

/** Collects the sessions of one project: its files over time, the files touched, and the tasks. */
export class ProjectHistory {
  readonly name: string;
  readonly #repository: string;
  readonly #calls: OpenCall[] = [];
  readonly #builders = new Map<
    string,
    { requests: RequestBuilder; work: QuestionBuilder; startMs: number }
  >();
  readonly #byCall = new Map<string, OpenCall>();

  constructor(name: string) {
    this.name = name;
    this.#repository = name.split("+").at(-1) ?? name;
  }

  /** Adds a message; the messages of a session come in order. */
  add(entry: HistoryEntry): void {
    const root = rootOf(entry.session);
    const builder = this.#builders.get(root) ?? {
      requests: new RequestBuilder(),
      work: new QuestionBuilder(),
      startMs: entry.atMs,
    };
    this.#builders.set(root, builder);
    builder.work.add(entry);
    builder.requests.add(entry);
    for (const part of entry.parts) {
      const key = `${entry.session} ${"callId" in part ? part.callId : ""}`;
      if (part.type === "tool-call") {
        const call = { session: root, atMs: entry.atMs, part, output: "", isError: false };
        this.#calls.push(call);
        this.#byCall.set(key, call);
      } else if (part.type === "tool-result") {
        const call = this.#byCall.get(key);
        if (!call) continue;
        call.output = part.output.map((one) => (one.type === "text" ? one.text : "")).join("\n");
        call.isError = part.isError === true;
      }
    }
  }

  /** Call after the last message. */
  end(): { files: FileVersions; touches: FileTouch[]; questions: EditQuestion[] } {
    const files = new FileVersions();
    const touches: FileTouch[] = [];
    for (const call of this.#calls.sort((left, right) => left.atMs - right.atMs)) {
      if (call.isError) continue;
      for (const touch of this.#findFiles(call)) {
        const { session, atMs, part, output } = call;
        files.add(touch.path, touch, part, output, atMs);
        const { path, named, kind } = touch;
        touches.push({ session, atMs, path, named, isChange: kind !== "read" });
      }
    }
    return { files, touches, questions: this.#listQuestions(files, touches) };
  }

  /** The project's files that a call touches; a command with several parts shows none of them alone. */
  #findFiles({ part, output }: OpenCall): (Touch & { path: string; named: string })[] {
    const all = findTouches(part);
    const reads = all.filter(({ kind }) => kind === "read");
    const isMixed = reads.length > 1 || (reads.length === 1 && all.length > 1);
    return all.flatMap((touch) => {
      if (touch.kind === "run" || (touch.kind === "read" && isMixed)) return [];
      // SWE-agent edits the file that it has open and names it in the output.
      const named = touch.path ?? /^\[File: (\S+) /m.exec(output)?.[1] ?? "";
      const path = findProjectPath(named, this.#repository);
      return path === undefined || path === "" ? [] : [{ ...touch, path, named }];
    });
  }

  #listQuestions(files: FileVersions, touches: readonly FileTouch[]): EditQuestion[] {
    const found: EditQuestion[] = [];
    for (const [session, { requests, work, startMs }] of this.#builders) {
      const changes = touches.filter((touch) => touch.session === session && touch.isChange);
      const tasks = [...requests.end(), ...work.end().filter(isTask)];
      for (const { kind, text, fromMs, toMs } of tasks) {
        const askedAtMs = Math.max(fromMs, startMs);
        const edited = changes.filter(({ atMs }) => atMs > fromMs && atMs <= toMs).map(({ path }) => path);
        const gold = [...new Set(edited)].filter((path) => files.hasAt(path, askedAtMs));
        if (gold.length === 0) continue;
        found.push({
          kind: kind as EditQuestion["kind"],
          format: session.split("/")[0] ?? "",
          project: this.name,
          session,
          text,
          askedAtMs,
          gold,
        });
      }
    }
    return found.sort((left, right) => left.askedAtMs - right.askedAtMs);
  }
}

/** Closing reports tell of work that is done, and errors of tests name files themselves. */
function isTask({ kind }: HistoryQuestion): boolean {
  return kind === "commits" || kind === "plans";
}
