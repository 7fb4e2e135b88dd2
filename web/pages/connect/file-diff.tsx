import type { Reply } from "../../api/routes.ts";
import { connectText as text } from "./connect-text.ts";

type FileChange = Reply<"POST /agents/{agent}/connect">["files"][number];

const CLASSES = { "+": "line-added", "-": "line-removed", "@": "line-place", " ": "" } as const;

/** The changed lines of one file. */
export function FileDiff({ file: { path, isNew, isRemoved, diff } }: { readonly file: FileChange }) {
  return (
    <section class="file-diff">
      <h3>
        <code>{path}</code>
        {isNew && <span class="pill">{text("newFile")}</span>}
        {isRemoved && <span class="pill">{text("removedFile")}</span>}
      </h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        {diff.map(({ mark, text: line }, index) => (
          <span key={`${index} ${mark}`} class={CLASSES[mark]}>
            {mark === "@" ? `@ ${line}` : `${mark} ${line}`}
            {"\n"}
          </span>
        ))}
      </pre>
    </section>
  );
}
