import { createHmac, timingSafeEqual } from "node:crypto";

/** A confirmation is valid for one to two of these. */
const PERIOD_MS = 10 * 60_000;
const DIGITS = 10;

/** Short codes that confirm one action on one thing, without state: a second call with the code carries it out. */
export class Confirmations {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** The code for an action; the same for some minutes. */
  createCode(action: string, now = Date.now()): string {
    return this.#compute(action, Math.floor(now / PERIOD_MS));
  }

  isCode(action: string, code: string, now = Date.now()): boolean {
    const period = Math.floor(now / PERIOD_MS);
    const isEqual = (one: string) =>
      one.length === code.length && timingSafeEqual(Buffer.from(one), Buffer.from(code));
    return [period, period - 1].some((one) => isEqual(this.#compute(action, one)));
  }

  #compute(action: string, period: number): string {
    return createHmac("sha256", this.#key).update(`${period}\0${action}`).digest("hex").slice(0, DIGITS);
  }
}
