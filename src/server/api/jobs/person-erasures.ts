import type { Kernel } from "../../../kernel/index.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { computeDigest } from "../../../model/base/digest.ts";
import { type ErasedPerson, erasePerson, requireErasable } from "../../erasing/erase-person.ts";
import type { ErasedCounts, ErasureCertificate } from "../../erasing/erasure-certificate.ts";

const DIGITS = 32;
const MAX_KEPT = 50;

interface ErasurePreview {
  readonly confirm: string;
  readonly counts: ErasedCounts;
}

/**
 * Erasures of people. One that was begun continues after its caller has left; a call with the same `confirm` waits for
 * it and gets the same certificate, until newer erasures take its place.
 */
export class PersonErasures {
  readonly #kernel: Kernel;
  readonly #find: (name: string) => Promise<ErasedPerson>;
  readonly #begun = new BoundedMap<string, Promise<ErasureCertificate>>({ max: MAX_KEPT });

  constructor(kernel: Kernel, find: (name: string) => Promise<ErasedPerson>) {
    this.#kernel = kernel;
    this.#find = find;
  }

  /** Counts the content of a person; throws PERSON_NOT_FOUND. */
  async preview(name: string): Promise<ErasurePreview> {
    const counts = await requireErasable(this.#kernel, await this.#find(name));
    return { confirm: await this.#computeConfirm(name, counts), counts };
  }

  /** The certificate of an erasure that this `confirm` began; undefined if there is none. */
  findCertificate(name: string, confirm: string): Promise<ErasureCertificate> | undefined {
    return this.#begun.get(toKey(name, confirm));
  }

  /** Erases a person; a failed erasure may be begun again. */
  async erase(name: string, confirm: string, { by }: { readonly by: string }): Promise<ErasureCertificate> {
    const person = await this.#find(name);
    const key = toKey(name, confirm);
    const begun = this.#begun.get(key);
    if (begun) return begun;
    const erasure = erasePerson(this.#kernel, person, { by });
    this.#begun.set(key, erasure);
    try {
      return await erasure;
    } catch (error) {
      this.#begun.delete(key);
      throw error;
    }
  }

  /** Names a person without the counts: everything is erased, however much there is by then. */
  async #computeConfirm(name: string, { sessions }: ErasedCounts): Promise<string> {
    const person = await this.#kernel.team.find(name);
    return computeDigest(`erase ${person ? `since ${person.createdAt}` : `${sessions} of`} ${name}`, DIGITS);
  }
}

function toKey(name: string, confirm: string): string {
  return `${confirm} ${name}`;
}
