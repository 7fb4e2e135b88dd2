import { useState } from "preact/hooks";
import { send } from "../api/client.ts";
import { isSignInNeeded, keepToken, token } from "../api/token.ts";
import { shellText } from "../i18n/shell-text.ts";
import { readHealth } from "../live/health.ts";

/** Asks for the token of the gateway. */
export function SignIn() {
  const [wasRefused, setRefused] = useState(token.peek() !== "");
  const signIn = async (event: SubmitEvent) => {
    event.preventDefault();
    const value = new FormData(event.currentTarget as HTMLFormElement).get("token")?.toString().trim() ?? "";
    keepToken(value);
    try {
      await send("GET /health");
      isSignInNeeded.value = false;
      void readHealth();
    } catch {
      keepToken("");
      setRefused(true);
    }
  };
  return (
    <section class="sign-in card">
      <h1>{shellText("signIn")}</h1>
      <p class="dim">{shellText("signInHint")}</p>
      <form onSubmit={signIn}>
        <label>
          {shellText("token")}
          <input
            name="token"
            type="password"
            autocomplete="off"
            required
            aria-describedby={wasRefused ? "refused" : undefined}
          />
        </label>
        <button type="submit" class="primary">
          {shellText("signIn")}
        </button>
      </form>
      {wasRefused && (
        <p id="refused" class="bad" role="alert">
          {shellText("tokenRefused")}
        </p>
      )}
    </section>
  );
}
