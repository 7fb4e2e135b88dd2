import type { JsonObject, WireEvent } from "../../api/api.ts";

/** A call of a tool of ours. */
export interface OwnCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** What is answered to it. */
export interface OwnAnswer {
  readonly call: OwnCall;
  readonly text: string;
}

/** A round that called nothing but tools of ours. */
export interface OwnRound {
  readonly calls: readonly OwnCall[];
  /** What the model said in it, as elements of the next request. */
  readonly elements: readonly JsonObject[];
}

/** The reply that a provider knows beside the one that a client was shown. */
export interface ShownEnd {
  readonly shown: string;
  readonly last: string;
  /** Calls of ours that were left out of it. */
  readonly unanswered: readonly string[];
}

/** Makes one reply of several rounds while they pass. */
export interface StreamJoiner {
  /** What the client is sent for an event: the very same object where nothing has to change. */
  take(event: WireEvent): readonly WireEvent[];
  /** The round that has ended, if another is to follow; the next events are those of that one. */
  next(): OwnRound | undefined;
  /** True once the client was sent the end of the reply. */
  readonly hasEnded: boolean;
  /** True once the client was sent words. */
  readonly hasSaid: boolean;
  /** What ends the reply where it stands; undefined if nothing was said so far, or something only half. */
  finish(): readonly WireEvent[] | undefined;
  /** What each round has used, as the provider wrote it; the round under way last, if it has told. */
  readonly usages: readonly JsonObject[];
  readonly end: ShownEnd | undefined;
}

/** The same for replies that are no streams. */
export interface BodyRound {
  /** Set if it called nothing but tools of ours. */
  readonly own: OwnRound | undefined;
  /** True if the client would see any words of it. */
  readonly hasSaid: boolean;
  readonly usage: JsonObject | undefined;
}

/** How one API writes rounds. */
export interface RoundForm {
  /** The elements that answer calls. */
  results(answers: readonly OwnAnswer[]): readonly JsonObject[];
  /** `most` rounds may follow the first. */
  openStream(most: number): StreamJoiner;
  readBody(body: JsonObject): BodyRound;
  /** One body of several, without any call of ours; the only one as it is, if it has none. */
  joinBodies(bodies: readonly JsonObject[]): JsonObject;
  bodyEnd(bodies: readonly JsonObject[]): ShownEnd | undefined;
}
