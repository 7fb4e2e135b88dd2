import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiFailure, toFailure } from "../../api/api-failure.ts";
import { download } from "../../api/client.ts";
import { Dialog } from "../../components/dialog.tsx";
import { saveFile } from "../../components/save-file.ts";
import { formatBytes } from "../../format/number.ts";
import type { BlobPart, Entry } from "../../session/session-types.ts";
import { conversationText as text } from "./conversation-text.ts";

/** Pictures that a browser decodes without running anything in them; SVG is never among them. */
const PICTURES = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;
/** Height of thumbnails in pixels of the page. */
const THUMB_HEIGHT = 120;
/** Larger pictures are offered as files only. */
const MAX_BYTES = 30_000_000;

interface BlobProps {
  readonly entry: Pick<Entry, "id" | "session">;
  readonly part: BlobPart;
}

/** A picture as a thumbnail, or any other file as a link that saves it. */
export function BlobView(props: BlobProps) {
  const { part } = props;
  return PICTURES.test(part.mime) && part.sizeBytes <= MAX_BYTES ? (
    <Picture {...props} />
  ) : (
    <FileLink {...props} />
  );
}

function readBytes({ entry, part }: BlobProps, signal?: AbortSignal): Promise<Blob> {
  return download(
    "GET /sessions/{session}/entries/{entry}/blobs/{digest}",
    { params: { session: entry.session, entry: entry.id, digest: part.digest } },
    signal ? { signal } : {},
  );
}

/** Loaded when it comes into view; only the small copy is kept in memory. */
function Picture(props: BlobProps) {
  const { part } = props;
  const place = useRef<HTMLButtonElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [failure, setFailure] = useState<ApiFailure>();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const button = place.current;
    if (!button) return;
    const end = new AbortController();
    const observer = new IntersectionObserver((seen) => {
      if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      void drawThumbnail(props, canvas.current, end.signal).catch((error) => {
        if (!end.signal.aborted) setFailure(toFailure(error));
      });
    });
    observer.observe(button);
    return () => {
      observer.disconnect();
      end.abort();
    };
  }, [part.digest]);
  const name = part.name ?? text("picture");
  const label = `${name} · ${formatBytes(part.sizeBytes)}`;
  return (
    <>
      <button
        ref={place}
        type="button"
        class="thumb"
        title={label}
        aria-label={label}
        onClick={() => setOpen(true)}
      >
        {failure ? (
          <span class="bad">{failure.message}</span>
        ) : (
          <canvas ref={canvas} height={THUMB_HEIGHT} width={THUMB_HEIGHT} />
        )}
      </button>
      {isOpen && (
        <Dialog title={label} onClose={() => setOpen(false)}>
          <WholePicture {...props} name={name} />
          <p>
            <FileLink {...props} />
          </p>
        </Dialog>
      )}
    </>
  );
}

async function drawThumbnail(
  props: BlobProps,
  canvas: HTMLCanvasElement | null,
  signal: AbortSignal,
): Promise<void> {
  const bytes = await readBytes(props, signal);
  const picture = await createImageBitmap(bytes, {
    resizeHeight: Math.round(THUMB_HEIGHT * devicePixelRatio),
    resizeQuality: "medium",
  });
  if (canvas && !signal.aborted) {
    canvas.width = picture.width;
    canvas.height = picture.height;
    canvas.style.height = `${THUMB_HEIGHT}px`;
    canvas.getContext("2d")?.drawImage(picture, 0, 0);
  }
  picture.close();
}

function WholePicture({ name, ...props }: BlobProps & { readonly name: string }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const end = new AbortController();
    let made: string | undefined;
    readBytes(props, end.signal).then(
      (bytes) => {
        if (end.signal.aborted) return;
        made = URL.createObjectURL(bytes);
        setUrl(made);
      },
      () => undefined,
    );
    return () => {
      end.abort();
      if (made) URL.revokeObjectURL(made);
    };
  }, [props.part.digest]);
  return url ? <img class="whole-picture" src={url} alt={name} /> : null;
}

function FileLink(props: BlobProps) {
  const { part } = props;
  const name = part.name ?? part.mime;
  const [failure, setFailure] = useState<ApiFailure>();
  const save = () =>
    readBytes(props).then(
      (bytes) => saveFile(bytes, part.name ?? part.digest.slice(0, 12)),
      (error) => setFailure(toFailure(error)),
    );
  return (
    <button type="button" class="quiet file" onClick={save}>
      {failure ? failure.message : text("saveFile", { name, size: formatBytes(part.sizeBytes) })}
    </button>
  );
}
