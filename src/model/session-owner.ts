/** The person of sessions without a token: imports, and a gateway that has no tokens. */
const LOCAL_NAME = "local";

/** The name of the person that a session belongs to; long names are shortened in ids and shown as they are there. */
export function findSessionOwner(session: string): string {
  const [, encoded] = /^(?:memory:gateway:)?@([^/]+)(?:\/|$)/.exec(session) ?? [];
  if (encoded === undefined) return LOCAL_NAME;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
