import { useRef } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { useResource } from "../../api/use-resource.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { saveFile } from "../../components/save-file.ts";
import { formatCount } from "../../format/number.ts";
import { peopleText as text } from "./people-text.ts";

export type Erasure = Reply<"POST /people/{person}/erase">;

const ROUTE = "POST /people/{person}/erase";
const COUNTED = ["sessions", "entries", "memories", "tasks", "blobs", "tokens", "budgets"] as const;

interface EraseDialogProps {
  readonly name: string;
  readonly onErased: (erasure: Erasure) => void;
  readonly onClose: () => void;
}

/** Shows how much is stored of a person, and erases it. */
export function EraseDialog({ name, onErased, onClose }: EraseDialogProps) {
  const params = { person: name };
  const preview = useResource((signal) => call(ROUTE, { params, body: {} }, { signal }), [name]);
  const erased = useRef<Erasure>(undefined);
  const erase = async () => {
    const { confirm } = preview.value ?? (await call(ROUTE, { params, body: {} }));
    erased.current = await call(ROUTE, { params, body: { confirm } });
  };
  return (
    <ConfirmDialog
      title={text("eraseNamed", { name })}
      confirmLabel={text("eraseForGood")}
      isDestructive
      onConfirm={erase}
      onClose={() => (erased.current ? onErased(erased.current) : onClose())}
    >
      <ResourceView resource={preview}>
        {({ counts }) => (
          <dl class="erased-counts">
            {COUNTED.map((key) => (
              <div key={key}>
                <dt>{text(`erased_${key}`)}</dt>
                <dd class="number">{formatCount(counts[key])}</dd>
              </div>
            ))}
          </dl>
        )}
      </ResourceView>
      <p>{text("eraseHint", { name })}</p>
    </ConfirmDialog>
  );
}

interface CertificateDialogProps {
  readonly erasure: Erasure;
  readonly onClose: () => void;
}

/** Shows the certificate of an erasure, which is stored nowhere. */
export function CertificateDialog({ erasure, onClose }: CertificateDialogProps) {
  const { person, certificate, text: words, fileName } = erasure;
  const save = () =>
    saveFile(new Blob([`${JSON.stringify(certificate, null, 2)}\n`]), fileName ?? "erasure.json");
  return (
    <Dialog title={text("erasedTitle", { name: person })} onClose={onClose}>
      <pre class="certificate">{words}</pre>
      <p class="dim">{text("certificateHint")}</p>
      <p>
        <button type="button" class="primary" onClick={save}>
          {text("download")}
        </button>
      </p>
    </Dialog>
  );
}
