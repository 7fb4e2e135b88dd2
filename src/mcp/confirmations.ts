import { createHmac, timingSafeEqual } from "node:crypto";

/** A confirmation is valid for one to two of these. */
const PERIOD_MS = 10 * 60_000;
const DIGITS = 10;

/** Short codes that confirm one action on one thing, without state: a second call with the code carries it out. */
export class Confirmations {
  readonly #readKey: () => Promise<string>;
  #key: Promise<string> | undefined;

  /** The key is read on first use. */
  constructor(readKey: () => Promise<string>) {
    this.#readKey = readKey;
  }

  /** The code for an action; the same for some minutes. */
  createCode(action: string, now = Date.now()): Promise<string> {
    return this.#compute(action, Math.floor(now / PERIOD_MS));
  }

  async isCode(action: string, code: string, now = Date.now()): Promise<boolean> {
    const period = Math.floor(now / PERIOD_MS);
    const isEqual = (one: string) =>
      one.length === code.length && timingSafeEqual(Buffer.from(one), Buffer.from(code));
    return isEqual(await this.#compute(action, period)) || isEqual(await this.#compute(action, period - 1));
  }

  async #compute(action: string, period: number): Promise<string> {
    this.#key ??= this.#readKey().catch((error: unknown) => {
      this.#key = undefined;
      throw error;
    });
    return createHmac("sha256", await this.#key)
      .update(`${period}\0${action}`)
      .digest("hex")
      .slice(0, DIGITS);
  }
}
