import type { MessageInput } from "../../../src/kernel/index.ts";
import type { WireName, WireObject } from "../../../src/wire/wire.ts";
import { getWire } from "../../../src/wire/wires.ts";
import { type AskedCall, TestAgent } from "../../support/agent.ts";
import { textsIn } from "./said.ts";

/** Rules by which a client shortens its own history before a request. */
export interface Trimming {
  /** Maximum number of newest messages that it sends. */
  readonly newest: number;
  readonly keepsFirst: boolean;
  /** With more than twice as many messages, this many after the first exchange are dropped for good. */
  readonly cutsMiddle?: number | undefined;
}

/** The request elements of one message. */
type MessageElements = readonly WireObject[];

/** A client that sends only part of its conversation, possibly with a reminder that it never keeps. */
export class TrimmingAgent extends TestAgent {
  /** All messages in either direction, including reminders. */
  readonly said: string[] = [];
  readonly #api: WireName;
  #history: MessageElements[] = [];
  #calls: readonly AskedCall[] = [];

  constructor(gateway: { readonly url: string }, api: WireName) {
    super(gateway, api);
    this.#api = api;
  }

  /** Answers the model with the outputs of its tool calls, or with text. Returns the sent elements. */
  async step(words: string, trimming: Trimming, reminder?: string): Promise<readonly WireObject[]> {
    const calls = this.#calls;
    const outputs = calls.map(({ id }) => `${id} put out: ${words}`);
    this.#keep(calls.length > 0 ? this.results(calls, outputs) : this.words(words));
    const tail = reminder === undefined ? [] : this.words(reminder);
    this.#note(tail);
    const sent = [...this.#window(trimming).flat(), ...tail];
    this.elements = [...sent];
    const reply = await this.next();
    this.#calls = reply.calls;
    this.#keep(reply.elements);
    return sent;
  }

  /** Drops the last reply and requests another one. */
  async again(trimming: Trimming): Promise<void> {
    this.#history.pop();
    this.elements = this.#window(trimming).flat();
    const reply = await this.next();
    this.#calls = reply.calls;
    this.#keep(reply.elements);
  }

  #window({ newest, keepsFirst, cutsMiddle }: Trimming): readonly MessageElements[] {
    if (cutsMiddle !== undefined && this.#history.length > 2 * cutsMiddle + 4) this.#cut(cutsMiddle);
    const [first] = this.#history;
    let from = Math.max(this.#history.length - newest, 0);
    // Calls stay together with their results.
    while (this.#isResult(from)) from--;
    const recent = this.#history.slice(from);
    return keepsFirst && first && recent[0] !== first ? [first, ...recent] : recent;
  }

  /** Drops whole turns after the first one. */
  #cut(count: number): void {
    const turns = this.#history.flatMap((_, place) => (this.#isTurn(place) ? [place] : []));
    const from = turns[1] ?? 0;
    const to = turns.find((place) => place >= from + count) ?? from;
    this.#history.splice(from, to - from);
  }

  #isTurn(place: number): boolean {
    return this.#messageAt(place)?.role === "user" && !this.#isResult(place);
  }

  #isResult(place: number): boolean {
    return this.#messageAt(place)?.parts?.some(({ type }) => type === "tool-result") ?? false;
  }

  #messageAt(place: number): MessageInput | undefined {
    const elements = this.#history[place];
    return elements && getWire(this.#api).decode(elements)[0]?.input;
  }

  #keep(elements: readonly WireObject[]): void {
    for (const { from, to } of getWire(this.#api).decode(elements))
      this.#history.push(elements.slice(from, to));
    this.#note(elements);
  }

  #note(elements: readonly WireObject[]): void {
    for (const { input } of getWire(this.#api).decode(elements)) this.said.push(textsIn(input));
  }
}
