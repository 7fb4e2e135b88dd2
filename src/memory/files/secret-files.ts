/** Folders that hold keys and what programs log in with. */
const FOLDERS: ReadonlySet<string> = new Set([
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".password-store",
]);
const NAMES: ReadonlySet<string> = new Set([
  ".npmrc",
  ".netrc",
  "_netrc",
  ".pypirc",
  ".pgpass",
  ".my.cnf",
  ".htpasswd",
  ".git-credentials",
  ".dockercfg",
  ".s3cfg",
  ".boto",
  ".vault-token",
  "credentials",
  "credentials.json",
  "shadow",
]);
const ENDINGS = /\.(?:pem|key|p8|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg|age|tfstate)$/;
/** Environment files, and private keys as ssh names them. */
const PATTERNS = /^\.env(?:rc)?(?:\..*)?$|^id_[a-z0-9]+(?:_sk)?(?:\.pub)?$/;

/** Tells whether a file is of a kind that holds keys or passwords, by its name. */
export function isSecretFile(name: string): boolean {
  const lower = name.toLowerCase();
  return NAMES.has(lower) || ENDINGS.test(lower) || PATTERNS.test(lower);
}

/** Tells whether a folder is of a kind that holds keys or passwords, by its name. */
export function isSecretFolder(name: string): boolean {
  return FOLDERS.has(name.toLowerCase());
}
