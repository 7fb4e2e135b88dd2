import type { JsonObject, WireEvent } from "../../api/api.ts";

/** A call of one of the gateway's tools. */
export interface OwnCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** The result of such a call. */
export interface OwnAnswer {
  readonly call: OwnCall;
  readonly text: string;
}

/** A round that called the gateway's tools only. */
export interface OwnRound {
  readonly calls: readonly OwnCall[];
  /** The reply of the model, as elements of the next request. */
  readonly elements: readonly JsonObject[];
}

/** The id of the last reply that the provider stored, next to the id that the client saw. */
export interface ShownEnd {
  readonly shown: string;
  readonly last: string;
  /** Ids of the gateway's calls that got no result. */
  readonly unanswered: readonly string[];
}

/** Joins several rounds into one reply while they stream. */
export interface StreamJoiner {
  /** Events to send to the client for an event; the same object where nothing changes. */
  take(event: WireEvent): readonly WireEvent[];
  /** The finished round if another one follows; later events then belong to the next round. */
  next(): OwnRound | undefined;
  /** True once the client was sent the end of the reply. */
  readonly hasEnded: boolean;
  /** True once the client was sent text. */
  readonly hasSaid: boolean;
  /**
   * Events that end the reply at this point; undefined if no text was sent, or if a part other than text is incomplete.
   */
  finish(): readonly WireEvent[] | undefined;
  /** Usage of each round, as the provider reported it; includes the current round once it has reported. */
  readonly usages: readonly JsonObject[];
  readonly end: ShownEnd | undefined;
}

/** One round of a reply that is not a stream. */
export interface BodyRound {
  /** Set if the round called the gateway's tools only. */
  readonly own: OwnRound | undefined;
  /** True if the round has text for the client. */
  readonly hasSaid: boolean;
  readonly usage: JsonObject | undefined;
}

/** The format of rounds in one API. */
export interface RoundForm {
  /** The elements with the results of calls. */
  results(answers: readonly OwnAnswer[]): readonly JsonObject[];
  /** `most` is the maximum number of rounds after the first. */
  openStream(most: number): StreamJoiner;
  readBody(body: JsonObject): BodyRound;
  /** Joins several bodies into one without the gateway's calls; a single body without such calls stays as it is. */
  joinBodies(bodies: readonly JsonObject[]): JsonObject;
  bodyEnd(bodies: readonly JsonObject[]): ShownEnd | undefined;
}
