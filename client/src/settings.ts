/** Settings that are the client's own: the server never sees them, and a change means another server process. */
const CLIENT_KEYS = ['server', 'interpreter'];
export const RESTART_KEYS = CLIENT_KEYS.map((key) => `loaderlint.${key}`);

/**
 * What the server gets of the editor's `loaderlint` section: camelCase names, only what somebody set.
 * An unset value must not travel: it would hide what pyproject.toml says.
 */
export function serverSettings(section: unknown): Record<string, unknown> {
  const entries = Object.entries(section ?? {});
  return Object.fromEntries(entries.filter(([key, value]) => !CLIENT_KEYS.includes(key) && value !== null));
}

/** Replace a leading `~` and every `${workspaceFolder}` of a path. */
export function expandPath(text: string, home: string, folder = ''): string {
  return text.trim().replace(/^~(?=$|[\\/])/, () => home).replaceAll('${workspaceFolder}', () => folder);
}

/** The command of `loaderlint.server.path`: a list is the whole command, a string the program. Undefined if not set. */
export function serverCommand(value: unknown, home: string, folder?: string): string[] | undefined {
  const words = typeof value === 'string' ? [value, 'server'] : Array.isArray(value) ? value.map(String) : [];
  const command = words.map((word) => expandPath(word, home, folder));
  return command[0] ? command : undefined;
}
