import { isSignInNeeded } from "../api/token.ts";
import { Toasts } from "../components/toasts.tsx";
import { shellText } from "../i18n/shell-text.ts";
import { Header } from "./header.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { PageView } from "./page-view.tsx";
import { place } from "./router.ts";
import { SignIn } from "./sign-in.tsx";
import { Warnings } from "./warnings.tsx";

/** The frame around all pages. */
export function App() {
  return (
    <>
      <a class="skip" href="#content">
        {shellText("skip")}
      </a>
      <Header />
      <Warnings />
      <main id="content" tabIndex={-1}>
        {isSignInNeeded.value && place.value.path !== "/sign-in" ? <SignIn /> : <PageView />}
      </main>
      <HelpDialog />
      <Toasts />
    </>
  );
}
