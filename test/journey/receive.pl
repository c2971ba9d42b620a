# Receives datagrams and prints them, a line for each assignment.
use Socket;
$| = 1;
socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die;
bind($socket, pack_sockaddr_un($ARGV[0])) or die;
print "bound\n";
while (defined recv($socket, my $text, 4096, 0)) { print "$text\n" unless $text =~ /^BARRIER/ }
