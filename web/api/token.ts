import { signal } from "@preact/signals";

const KEY = "longhaul.token";

/**
 * The reader's token. It stays in the storage of this tab and is sent as a header: a browser adds a cookie to requests
 * that another page makes, but never this header, so no other page can act for the reader.
 */
export const token = signal(sessionStorage.getItem(KEY) ?? "");

/** True if the gateway asked for a token. */
export const isSignInNeeded = signal(false);

/** Keeps a token until the tab closes. */
export function keepToken(value: string): void {
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
  token.value = value;
}
