import { ApiFailure } from "../api/api-failure.ts";
import { call } from "../api/client.ts";
import { isSignInNeeded, keepToken } from "../api/token.ts";
import { readHealth } from "../live/health.ts";
import { place } from "./router.ts";

const KEY = "longhaul.sign-in";

/** Leaves for the provider; the tab keeps the secret that finishes the sign-in, and the page to return to. */
export async function beginSignIn(): Promise<void> {
  const { url, tab } = await call("POST /sign-in/begin", { body: {} });
  const { path, query } = place.peek();
  sessionStorage.setItem(KEY, JSON.stringify({ tab, from: path + query }));
  location.assign(url);
}

/** Finishes a sign-in with the query of the provider; returns the page that the person came from. */
export async function finishSignIn(query: string): Promise<string> {
  const kept = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  if (kept === null)
    throw new ApiFailure(0, {
      code: "SIGN_IN_FAILED",
      message: "This sign-in was not begun in this tab.",
      remedy: "Open the overview and sign in there.",
    });
  const { tab, from } = JSON.parse(kept) as { readonly tab: string; readonly from: string };
  const { token } = await call("POST /sign-in/finish", { body: { query, tab } });
  keepToken(token);
  isSignInNeeded.value = false;
  void readHealth();
  // Only a page of this dashboard, never another host.
  return from.startsWith("/") && !from.startsWith("//") && !from.startsWith("/sign-in") ? from : "/";
}
