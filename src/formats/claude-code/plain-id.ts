import { fingerprint } from "../content/fingerprint.ts";

/** An id that can be part of a session's id and of a file's name: as it is, or something short that stands for it. */
export function plainId(id: string): string {
  return /^[\w.-]{1,100}$/.test(id) ? id : fingerprint(id);
}
