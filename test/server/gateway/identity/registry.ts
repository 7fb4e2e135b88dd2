import type { MessageInput, Role } from "../../../../src/kernel/index.ts";
import { buildCanonicalKey } from "../../../../src/server/gateway/identity/canonical-key.ts";
import {
  chooseThread,
  compareToThread,
  decideThread,
  type ThreadKind,
} from "../../../../src/server/gateway/identity/choose-thread.ts";
import {
  type AgentShape,
  buildShape,
  type RequestKind,
} from "../../../../src/server/gateway/identity/request-kind.ts";
import { findSummaryIndex } from "../../../../src/server/gateway/lookup/client-summaries.ts";

/** A request as a registry sees it. */
export interface Asked {
  readonly messages: readonly MessageInput[];
  readonly lead?: string;
  readonly toolNames?: readonly string[];
  readonly explicit?: string | undefined;
  readonly agent?: string | undefined;
  readonly purpose?: string | undefined;
  readonly maxTokens?: number | undefined;
  readonly kind?: RequestKind;
}

/** A thread of the naive registry. */
export interface Thread {
  readonly id: string;
  readonly kind: ThreadKind;
  readonly shape: AgentShape;
  readonly explicit: string | undefined;
  readonly agent: string | undefined;
  keys: string[];
  roles: Role[];
  lastRequestLength: number;
  isInFlight: boolean;
  lastReplyWasDelivered: boolean;
  brokenLength: number | undefined;
}

/** Keeps threads in memory and applies the rules; a line is the last request and its reply. */
export class Registry {
  /** Most recently used first. */
  threads: Thread[] = [];
  readonly #summaries: { readonly text: string; readonly of: string }[] = [];

  /** Handles a request; `answer` must follow. */
  ask(asked: Asked): Thread {
    const { lead = "", toolNames = [], explicit, agent, messages } = asked;
    const shape = buildShape({ lead, toolNames });
    const keys = messages.map((message) => buildCanonicalKey(message));
    const roles = messages.map(({ role }) => role);
    const own = this.threads.filter((thread) => thread.explicit === explicit);
    const facts = {
      ...{ lead, toolNames, messages },
      ...(asked.purpose !== undefined && { purpose: asked.purpose }),
      ...(asked.maxTokens !== undefined && { maxTokens: asked.maxTokens }),
    };
    const continues = this.#summaries.find(({ text }) => findSummaryIndex(text, messages) !== undefined)?.of;
    const request = { keys, roles, shape, explicit, agent, continues, facts };
    const compared = own.map((thread) => ({ thread, like: compareToThread(thread, request) }));
    const choice = asked.kind
      ? chooseThread(compared, request, asked.kind)
      : decideThread(own, request).choice;
    const thread: Thread = (choice.type === "continue" && this.#find(choice.id)) || {
      id: `t${this.threads.length + 1}`,
      kind: choice.type === "new-child" ? choice.kind : "main",
      ...{ shape, explicit, agent, keys: [], roles: [] },
      ...{ lastRequestLength: 0, isInFlight: false, lastReplyWasDelivered: true, brokenLength: undefined },
    };
    const isAgain = !thread.lastReplyWasDelivered && keys.length >= thread.lastRequestLength;
    thread.brokenLength = isAgain ? (thread.brokenLength ?? thread.lastRequestLength) : undefined;
    Object.assign(thread, { keys, roles, lastRequestLength: keys.length });
    Object.assign(thread, { isInFlight: true, lastReplyWasDelivered: false });
    this.threads = [thread, ...this.threads.filter((other) => other !== thread)];
    return thread;
  }

  /** Ends a request with or without a reply. */
  answer(thread: Thread, reply: MessageInput | undefined): void {
    thread.isInFlight = false;
    thread.lastReplyWasDelivered = reply !== undefined;
    if (!reply) return;
    thread.keys = [...thread.keys, buildCanonicalKey(reply)];
    thread.roles = [...thread.roles, reply.role];
    const text = (reply.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
    const main = this.threads.find(({ kind }) => kind === "main");
    if (thread.kind === "compaction" && main) this.#summaries.push({ text, of: main.id });
  }

  #find(id: string): Thread | undefined {
    return this.threads.find((thread) => thread.id === id);
  }
}
