import { LonghaulError } from "../model/errors.ts";

/** Characters decoded at a time; a multiple of four. */
const SLICE = 256 * 1024;

/** Splits a data URL into MIME type and base64 text; returns undefined if the text is not a data URL. */
export function splitDataUrl(text: string): { mime: string; base64: string } | undefined {
  if (!text.startsWith("data:")) return undefined;
  const comma = text.indexOf(",");
  const label = text.slice(5, comma === -1 ? 5 : comma);
  if (comma === -1 || !label.endsWith(";base64")) {
    throw new LonghaulError(
      "BASE64_INVALID",
      "The data URL is not base64 (expected data:<type>;base64,<data>); nothing was stored.",
    );
  }
  return { mime: label.slice(0, -";base64".length), base64: text.slice(comma + 1) };
}

/**
 * Decodes base64 in slices, so that memory never holds a complete second copy; throws
 * BASE64_INVALID if it is empty or incomplete.
 */
export function* decodeBase64(text: string): Generator<Uint8Array> {
  try {
    const clean = /\s/.test(text) ? text.replace(/\s+/g, "") : text;
    if (clean === "") throw createBase64Error("it is empty");
    if (clean.length % 4 !== 0)
      throw createBase64Error(`its length ${clean.length} is not a multiple of 4, so it was cut off`);
    for (let at = 0; at < clean.length; at += SLICE) {
      const slice = clean.slice(at, at + SLICE);
      const isLast = at + SLICE >= clean.length;
      const isValid = isLast ? /^[A-Za-z0-9+/_-]*={0,2}$/.test(slice) : /^[A-Za-z0-9+/_-]*$/.test(slice);
      if (!isValid) throw createBase64Error("it holds other characters");
      yield Buffer.from(slice, "base64");
    }
  } finally {
    // The regex engine keeps a reference to the last matched text; replace megabytes by a short one.
    /^/.test("");
  }
}

function createBase64Error(why: string): LonghaulError {
  return new LonghaulError(
    "BASE64_INVALID",
    `The data is not valid base64: ${why}. Send it again whole; nothing was stored.`,
  );
}
