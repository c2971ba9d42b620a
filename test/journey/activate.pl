# Opens sockets as systemd does, from descriptor 3 on, says where, and becomes the program given behind them.
use Socket;
$^F = 100;
$| = 1;
my ($kinds, @program) = @ARGV;
my @kept;
my $next = 3;
for my $kind (split /,/, $kinds) {
  my $socket;
  if ($kind eq 'tcp') {
    socket($socket, AF_INET, SOCK_STREAM, 0) or die;
    bind($socket, pack_sockaddr_in(0, INADDR_LOOPBACK)) or die;
    listen($socket, 16) or die;
    print STDERR "port " . (unpack_sockaddr_in(getsockname($socket)))[0] . "\n";
  } else {
    socket($socket, AF_UNIX, SOCK_STREAM, 0) or die;
    bind($socket, pack_sockaddr_un($kind)) or die;
    listen($socket, 16) or die;
  }
  fileno($socket) == $next++ or die "not the descriptor expected";
  push @kept, $socket;
}
$ENV{LISTEN_PID} = $$;
$ENV{LISTEN_FDS} = scalar @kept;
exec @program;
