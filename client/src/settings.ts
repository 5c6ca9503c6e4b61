/** Settings that are the client's own: a change means another server process. The server leaves them alone. */
export const RESTART_KEYS = ['loaderlint.server', 'loaderlint.interpreter'];

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
