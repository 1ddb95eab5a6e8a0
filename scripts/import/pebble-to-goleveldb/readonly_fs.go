package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/cockroachdb/pebble/vfs"
	"golang.org/x/sys/unix"
)

var errReadOnly = errors.New("refused: nothing is written into the source")

// A file system on which nothing can be changed. Pebble's own read-only mode truncates the LOCK
// file, so being asked nicely is not enough.
type readOnlyFS struct{ vfs.FS }

func refuse(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: errReadOnly} }

func (readOnlyFS) Create(name string) (vfs.File, error) { return nil, refuse("create", name) }
func (readOnlyFS) Link(_, name string) error            { return refuse("link", name) }
func (readOnlyFS) OpenReadWrite(name string, _ ...vfs.OpenOption) (vfs.File, error) {
	return nil, refuse("open", name)
}
func (readOnlyFS) Remove(name string) error    { return refuse("remove", name) }
func (readOnlyFS) RemoveAll(name string) error { return refuse("remove", name) }
func (readOnlyFS) Rename(name, _ string) error { return refuse("rename", name) }
func (readOnlyFS) ReuseForWrite(name, _ string) (vfs.File, error) {
	return nil, refuse("reuse", name)
}
func (readOnlyFS) MkdirAll(name string, _ os.FileMode) error { return refuse("mkdir", name) }

// Lock takes a read lock, which a file opened for reading may have: it fails while a node holds
// the database, and a node started meanwhile fails. A folder without a LOCK file has no node.
func (readOnlyFS) Lock(name string) (io.Closer, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return io.NopCloser(nil), nil
	}
	if err != nil {
		return nil, err
	}
	lock := unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(file.Fd(), unix.F_SETLK, &lock); err != nil {
		file.Close()
		return nil, fmt.Errorf("a running node holds the database (%s: %w): stop it, or convert a "+
			"snapshot of its file system", name, err)
	}
	return file, nil
}
