import { useState } from "preact/hooks";
import { type ApiFailure, toFailure } from "../api/api-failure.ts";
import { call, send } from "../api/client.ts";
import { isSignInNeeded, keepToken, token } from "../api/token.ts";
import { useResource } from "../api/use-resource.ts";
import { ErrorState } from "../components/error-state.tsx";
import { shellText } from "../i18n/shell-text.ts";
import { readHealth } from "../live/health.ts";
import { beginSignIn } from "./provider-sign-in.ts";

/** Asks for the token of the gateway. */
export function SignIn() {
  const [wasRefused, setRefused] = useState(token.peek() !== "");
  const offered = useResource((signal) => call("GET /sign-in", {}, { signal }), []);
  const provider = offered.value?.provider;
  const [failure, setFailure] = useState<ApiFailure>();
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
      {provider && (
        <p class="actions">
          <button
            type="button"
            class="primary"
            onClick={() => void beginSignIn().catch((error) => setFailure(toFailure(error)))}
          >
            {shellText("signInAt", { provider })}
          </button>
        </p>
      )}
      {failure && <ErrorState failure={failure} />}
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
