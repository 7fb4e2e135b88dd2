/** Formats of well-known providers' keys, and of credentials in headers and URLs. */
const keyForms: readonly RegExp[] = [
  /\b(?:sk|pk|rk|gsk|xai|key)-[A-Za-z0-9_-]{16,}/g,
  /\bAIza[A-Za-z0-9_-]{20,}/g,
  /(?<=\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
  /(?<=[?&](?:key|api_key|apikey|api-key|access_token|token)=)[^&\s"']+/gi,
  /(?<=:\/\/)[^/@\s"']+(?=@)/g,
];

/** Shorter secrets would match ordinary words. */
const minCharacters = 6;

/** Removes the given secrets, and anything that looks like a key, from a text. */
export function redactKeys(text: string, secrets: readonly string[] = []): string {
  const known = secrets.filter((secret) => secret.length >= minCharacters);
  const withoutKnown = known.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text);
  return keyForms.reduce((rest, form) => rest.replace(form, "[redacted]"), withoutKnown);
}
