# Installs pwpush @VERSION@ for this user; nothing needs an administrator. Running it again upgrades, -Uninstall removes
# what it installed. The archive is compared with the checksum below before anything is written.
param(
  [string]$Folder = (Join-Path $env:LOCALAPPDATA 'Programs\pwpush'),
  [switch]$Uninstall
)
$ErrorActionPreference = 'Stop'
$version = '@VERSION@'
$base = if ($env:PWPUSH_INSTALL_URL) { $env:PWPUSH_INSTALL_URL } else { '@URL@' }
$expected = '@SUM_WINDOWS@'
$name = "pwpush-$version-windows-x64.zip"

function Set-UserPath([scriptblock]$change) {
  $key = 'HKCU:\Environment'
  $path = (Get-Item $key).GetValue('Path', '', 'DoNotExpandEnvironmentNames')
  $parts = @($path -split ';' | Where-Object { $_ -ne '' })
  $changed = @(& $change $parts) -join ';'
  if ($changed -ne $path) { Set-ItemProperty $key Path $changed -Type ExpandString }
}

if ($Uninstall) {
  if (-not (Test-Path (Join-Path $Folder 'pwpush.exe'))) { throw "pwpush is not installed in $Folder" }
  Remove-Item $Folder -Recurse -Force
  Set-UserPath { param($parts) $parts | Where-Object { $_ -ne $Folder } }
  Write-Output "removed pwpush from $Folder; profiles and saved secrets stay"
  return
}

if ([Environment]::Is64BitOperatingSystem -eq $false) {
  throw 'there is no binary for this machine; with Node.js use: npm install --global pwpush'
}
$work = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
New-Item -ItemType Directory $work | Out-Null
try {
  $archive = Join-Path $work $name
  Write-Output "downloading $base/$name"
  [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
  Invoke-WebRequest "$base/$name" -OutFile $archive -UseBasicParsing
  $actual = (Get-FileHash $archive -Algorithm SHA256).Hash.ToLowerInvariant()
  if ($actual -ne $expected) { throw "the checksum is $actual instead of $expected; nothing was installed" }
  Expand-Archive $archive $work
  $unpacked = Join-Path $work "pwpush-$version-windows-x64"
  New-Item -ItemType Directory $Folder -Force | Out-Null
  # A running program can be renamed, but not replaced.
  $program = Join-Path $Folder 'pwpush.exe'
  if (Test-Path $program) { Move-Item $program "$program.old" -Force }
  Copy-Item (Join-Path $unpacked '*') $Folder -Recurse -Force
  Remove-Item "$program.old" -Force -ErrorAction SilentlyContinue
  Set-UserPath { param($parts) if ($parts -contains $Folder) { $parts } else { $parts + $Folder } }
  Write-Output "installed pwpush $version as $program"
  Write-Output 'open a new terminal to have it on the PATH; for completions add to your $PROFILE: pwpush completion powershell | Out-String | Invoke-Expression'
} finally {
  Remove-Item $work -Recurse -Force
}
