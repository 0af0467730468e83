# SPDX-License-Identifier: MIT
"""Drives dsvc-top under a pseudo terminal: python3 top.py HOW [ARG...]

HOW is how it ends: quit, interrupt, terminate, lost (its dispatcher, whose pid is the next argument).
Fails unless the screen showed what it should, and the terminal is as it was before."""
import fcntl, os, pty, re, select, signal, struct, sys, termios, time

PATIENCE = 60
END = b'\x1b[?1049l'
BEGIN = b'\x1b[?1049h'


def resize(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))


class Screen:
    def __init__(self, argv):
        # held open, so that the modes can be looked at after the end
        self.fd, self.tty = pty.openpty()
        resize(self.fd, 24, 80)
        self.before = termios.tcgetattr(self.tty)
        self.seen = b''
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(self.tty, termios.TIOCSCTTY, 0)
            for k in 0, 1, 2:
                os.dup2(self.tty, k)
            os.execvp(argv[0], argv)

    def until(self, pattern, what):
        """Reads until it was shown; what was read before that is forgotten."""
        end = time.monotonic() + PATIENCE
        while not (m := re.search(pattern, self.seen, re.S)):
            some = select.select([self.fd], [], [], 0.2)[0]
            if some:
                self.seen += os.read(self.fd, 65536)
            if time.monotonic() > end or (not some and self.gone()):
                sys.exit(f'no {what}: {self.seen[-3000:]!r}')
        self.seen = self.seen[m.end():]
        return m

    def gone(self):
        """Whether it has ended, without waiting for it."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def keys(self, text):
        os.write(self.fd, text)

    def raw(self):
        return not termios.tcgetattr(self.tty)[3] & (termios.ICANON | termios.ECHO)

    def same(self, when):
        if termios.tcgetattr(self.tty) != self.before:
            sys.exit(f'the terminal is not as it was: {when}')

    def wait(self, options=0):
        pid, status = os.waitpid(self.pid, options)
        return status


def main(how, *args):
    s = Screen(['dsvc-top', '--interval', '200ms'])
    s.until(re.escape(BEGIN), 'screen')
    s.until(rb'>(one|two) .*WORKER', 'selected job')
    if not s.raw():
        sys.exit('keys are shown, or come by the line')
    if how == 'quit':
        s.keys(b's')
        s.until(rb'by name', 'other order')
        s.keys(b'k')
        s.until(rb'>one ', 'first job, by k')
        s.keys(b'j')
        s.until(rb'>two ', 'next job, by j')
        s.keys(b'\x1b[A')
        s.until(rb'>one ', 'job before, by an arrow')
        s.keys(b'p')
        s.until(rb'PAUSED', 'pause')
        s.keys(b'ph')
        s.until(rb'h less', 'help')
        resize(s.fd, 10, 30)
        m = s.until(rb'\x1b\[H\x1b\[J((?:(?!\x1b\[H).)*?q quit[^\x1b]*)\x1b\[H', 'smaller screen')
        while any(len(re.sub(r'\x1b\[\d*m', '', line)) > 30 for line in m[1].decode().replace('\r', '').split('\n')) or \
                m[1].count(b'\n') > 9:
            m = s.until(rb'\x1b\[J((?:(?!\x1b\[H).)*?q quit[^\x1b]*)\x1b\[H', 'smaller screen')
        s.keys(b'\x1a')
        s.until(re.escape(END), 'screen of before, at ^Z')
        status = s.wait(os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            sys.exit('^Z does not stop it')
        s.same('stopped')
        os.kill(s.pid, signal.SIGCONT)
        s.until(re.escape(BEGIN) + rb'.*q quit', 'screen again')
        if not s.raw():
            sys.exit('keys come by the line after a stop')
        s.keys(b'q')
    elif how == 'interrupt':
        s.keys(b'\x03')
    elif how == 'terminate':
        os.kill(s.pid, signal.SIGTERM)
    else:
        os.kill(int(args[0]), signal.SIGTERM)
    s.until(re.escape(END), 'screen of before')
    code = os.waitstatus_to_exitcode(s.wait())
    s.same('ended')
    if code != (0 if how != 'lost' else 69):
        sys.exit(f'ended with {code}')


main(*sys.argv[1:])
