import { computeFingerprint } from "../../model/base/digest.ts";

/** Makes an id safe for session ids and file names: unchanged if possible, else a fingerprint. */
export function toPlainId(id: string): string {
  return /^[\w.-]{1,100}$/.test(id) ? id : computeFingerprint(id);
}
