import "./people.css";
import { useRef, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { keepToken } from "../../api/token.ts";
import { useResource } from "../../api/use-resource.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { showToast } from "../../components/toasts.tsx";
import { BudgetBar } from "./budget-bar.tsx";
import { EditPersonDialog } from "./edit-person.tsx";
import { CertificateDialog, EraseDialog, type Erasure } from "./erase-dialog.tsx";
import { OwnAccess } from "./own-access.tsx";
import { peopleText as text } from "./people-text.ts";
import { type Person, PersonCard } from "./person-card.tsx";
import { PersonForm, type ShownToken } from "./person-form.tsx";

const PERIOD_MS = 30 * 86_400_000;

type OpenDialog =
  | { readonly type: "add" }
  | { readonly type: "edit"; readonly person: Person }
  | { readonly type: "rotate" | "revoke" | "erase"; readonly name: string }
  | { readonly type: "certificate"; readonly erasure: Erasure }
  | ({ readonly type: "token" } & ShownToken);

/** People with tokens, budgets and usage. */
export default function PeoplePage() {
  const people = useResource((signal) => call("GET /people", {}, { signal }), []);
  const usage = useResource((signal) => {
    const from = new Date(Date.now() - PERIOD_MS).toISOString().slice(0, 10);
    return call("GET /usage", { query: { by: "person", from } }, { signal });
  }, []);
  const [dialog, setDialog] = useState<OpenDialog>();
  const close = () => setDialog(undefined);
  const showToken = (shown: ShownToken) => {
    setDialog({ type: "token", ...shown });
    people.reload();
  };
  return (
    <>
      <h1>{text("title")}</h1>
      <p class="dim people-hint">
        {text("hint")} <a href="/privacy">{text("privacy")}</a>
      </p>
      <ResourceView resource={people}>
        {({ me, people: all, shared }) => {
          const canChange = me.role === "admin";
          const addButton = canChange && (
            <button type="button" class="primary" onClick={() => setDialog({ type: "add" })}>
              {text("add")}
            </button>
          );
          return (
            <>
              {me.name !== null && (
                <OwnAccess
                  name={me.name}
                  onRotate={() => setDialog({ type: "rotate", name: me.name as string })}
                />
              )}
              {all.length === 0 ? (
                <EmptyState title={text("nobody")} hint={text(canChange ? "nobodyHint" : "nothingOfYours")}>
                  {addButton || undefined}
                </EmptyState>
              ) : (
                <>
                  {addButton && <p class="actions people-actions">{addButton}</p>}
                  <ul class="people">
                    {all.map((person) => (
                      <PersonCard
                        key={person.name}
                        person={person}
                        usage={usage.value?.rows.find(({ name }) => name === person.name)}
                        canChange={canChange}
                        onEdit={() => setDialog({ type: "edit", person })}
                        onRotate={() => setDialog({ type: "rotate", name: person.name })}
                        onRevoke={() => setDialog({ type: "revoke", name: person.name })}
                        onErase={() => setDialog({ type: "erase", name: person.name })}
                      />
                    ))}
                  </ul>
                </>
              )}
              {shared.length > 0 && (
                <section class="section">
                  <h2 class="section-head">{text("shared")}</h2>
                  <div class="card">
                    {shared.map((budget) => (
                      <BudgetBar key={budget.id} budget={budget} />
                    ))}
                  </div>
                </section>
              )}
              {dialog?.type === "add" && (
                <PersonForm isFirst={all.length === 0} onAdded={showToken} onClose={close} />
              )}
            </>
          );
        }}
      </ResourceView>
      {dialog?.type === "edit" && (
        <EditPersonDialog
          key={dialog.person.name}
          person={dialog.person}
          onSaved={() => {
            close();
            people.reload();
          }}
          onClose={close}
        />
      )}
      {dialog?.type === "token" && <TokenDialog shown={dialog} onClose={close} />}
      {dialog?.type === "rotate" && (
        <RotateDialog
          key={dialog.name}
          name={dialog.name}
          isOwn={dialog.name === people.value?.me.name}
          onRotated={showToken}
          onClose={close}
        />
      )}
      {dialog?.type === "revoke" && (
        <RevokeDialog key={dialog.name} name={dialog.name} onRevoked={people.reload} onClose={close} />
      )}
      {dialog?.type === "erase" && (
        <EraseDialog
          key={dialog.name}
          name={dialog.name}
          onErased={(erasure) => setDialog({ type: "certificate", erasure })}
          onClose={close}
        />
      )}
      {dialog?.type === "certificate" && (
        <CertificateDialog
          erasure={dialog.erasure}
          onClose={() => {
            close();
            people.reload();
            usage.reload();
          }}
        />
      )}
    </>
  );
}

function TokenDialog({ shown, onClose }: { readonly shown: ShownToken; readonly onClose: () => void }) {
  return (
    <Dialog title={text("tokenTitle", { name: shown.name })} onClose={onClose}>
      <p class="person-token">
        <code>{shown.token}</code> <CopyButton text={shown.token} />
      </p>
      <p class="dim">{text("tokenHint")}</p>
    </Dialog>
  );
}

interface RotateDialogProps {
  readonly name: string;
  /** True if it is the reader's own token. */
  readonly isOwn: boolean;
  readonly onRotated: (shown: ShownToken) => void;
  readonly onClose: () => void;
}

function RotateDialog({ name, isOwn, onRotated, onClose }: RotateDialogProps) {
  const shown = useRef<ShownToken>(undefined);
  const rotate = async () => {
    const { token } = await call("POST /people/{person}/token", { params: { person: name }, body: {} });
    shown.current = { name, token };
    // The former token of this tab has ended.
    if (isOwn) keepToken(token);
  };
  return (
    <ConfirmDialog
      title={text("rotateNamed", { name })}
      confirmLabel={text("rotate")}
      onConfirm={rotate}
      onClose={() => (shown.current ? onRotated(shown.current) : onClose())}
    >
      <p>{text("rotateHint", { name })}</p>
    </ConfirmDialog>
  );
}

interface RevokeDialogProps {
  readonly name: string;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
}

function RevokeDialog({ name, onRevoked, onClose }: RevokeDialogProps) {
  const revoke = async () => {
    await call("DELETE /people/{person}/token", { params: { person: name } });
    showToast(text("revoked", { name }));
    onRevoked();
  };
  return (
    <ConfirmDialog
      title={text("revokeNamed", { name })}
      confirmLabel={text("revoke")}
      isDestructive
      onConfirm={revoke}
      onClose={onClose}
    >
      <p>{text("revokeHint", { name })}</p>
    </ConfirmDialog>
  );
}
