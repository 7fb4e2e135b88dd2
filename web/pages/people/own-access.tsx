import { useState } from "preact/hooks";
import { token } from "../../api/token.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { peopleText as text } from "./people-text.ts";

/** The reader's own token and the line that connects their agents. */
export function OwnAccess({ name, onRotate }: { readonly name: string; readonly onRotate: () => void }) {
  const [isShown, setShown] = useState(false);
  const line = `LONGHAUL_TOKEN=${isShown ? token.value : "…"} longhaul connect --url ${location.origin}`;
  return (
    <section class="card own-access">
      <h2>
        {text("access")} · {name}
      </h2>
      <p class="dim">{text("accessHint")}</p>
      <p class="person-token">
        {isShown ? <code>{token.value}</code> : null}
        <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {text("showToken")}
        </button>{" "}
        <CopyButton text={token.value} />{" "}
        <button type="button" onClick={onRotate}>
          {text("newOwn")}
        </button>
      </p>
      <p class="dim">{text("connectLine")}</p>
      <p class="person-token">
        <code>{line}</code>{" "}
        <CopyButton text={`LONGHAUL_TOKEN=${token.value} longhaul connect --url ${location.origin}`} />
      </p>
    </section>
  );
}
