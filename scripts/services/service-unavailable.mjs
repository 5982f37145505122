/** A service that cannot be had on this machine; the message is the one line that tests print. */
export class ServiceUnavailable extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'ServiceUnavailable';
  }
}
