import { useEffect, useState } from "preact/hooks";
import { type ApiFailure, toFailure } from "../../api/api-failure.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { shellText } from "../../i18n/shell-text.ts";
import { finishSignIn } from "../../shell/provider-sign-in.ts";
import { navigate, place } from "../../shell/router.ts";

/** The page to which a provider sends people back. The code leaves the address before anything else happens. */
export default function SignInPage() {
  const [failure, setFailure] = useState<ApiFailure>();
  useEffect(() => {
    const query = place.peek().query.slice(1);
    history.replaceState(null, "", "/sign-in");
    if (query === "") return navigate("/", { isReplacing: true });
    finishSignIn(query).then(
      (from) => navigate(from, { isReplacing: true }),
      (error) => setFailure(toFailure(error)),
    );
  }, []);
  if (!failure) return <EmptyState title={shellText("signingIn")} />;
  return (
    <>
      <h1>{shellText("signInFailed")}</h1>
      <ErrorState failure={failure} />
      <p class="actions">
        <a class="button" href="/">
          {shellText("toOverview")}
        </a>
      </p>
    </>
  );
}
