/** The client's own settings: a change of them restarts the server, which ignores them. */
export const RESTART_KEYS = ['loaderlint.enable', 'loaderlint.server', 'loaderlint.interpreter', 'loaderlint.auditLens'];

/** Replace a leading `~` and every `${workspaceFolder}` in a path. */
export function expandPath(text: string, home: string, folder = ''): string {
  return text.trim().replace(/^~(?=$|[\\/])/, () => home).replaceAll('${workspaceFolder}', () => folder);
}

/** The command of `loaderlint.server.path` and `loaderlint.server.args`. Undefined if no path is set. */
export function serverCommand(program: string, args: readonly string[], home: string, folder?: string): string[] | undefined {
  const command = [program, ...args].map((word) => expandPath(word, home, folder));
  return command[0] ? command : undefined;
}
