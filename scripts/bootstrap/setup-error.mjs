/** A set-up step that a person can put right: its message is shown alone, without a stack. */
export class SetupError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'SetupError';
  }
}
