/** Forms that keys of well-known providers have, and credentials in headers and addresses. */
const keyForms: readonly RegExp[] = [
  /\b(?:sk|pk|rk|gsk|xai|key)-[A-Za-z0-9_-]{16,}/g,
  /\bAIza[A-Za-z0-9_-]{20,}/g,
  /(?<=\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
  /(?<=[?&](?:key|api_key|apikey|api-key|access_token|token)=)[^&\s"']+/gi,
  /(?<=:\/\/)[^/@\s"']+(?=@)/g,
];

/** Secrets shorter than this are ordinary words. */
const leastCharacters = 6;

/** The text without the secrets given, and without anything that has the form of a key. */
export function redact(text: string, secrets: readonly string[] = []): string {
  const known = secrets.filter((secret) => secret.length >= leastCharacters);
  const withoutKnown = known.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text);
  return keyForms.reduce((rest, form) => rest.replace(form, "[redacted]"), withoutKnown);
}
